// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "CodeSize.h"

#include "OutlinedCode.h"
#include "ValueOr.h"

#include "llvm/IR/Function.h"
#include "llvm/IR/Module.h"
#include "llvm/Object/ELFObjectFile.h"
#include "llvm/Object/SymbolSize.h"
#include "llvm/Support/Casting.h"

#include <map>
#include <set>
#include <string>
#include <utility>

using namespace llvm;
using namespace llvm::object;

namespace mlgo::search {
namespace {

struct Code {
  std::string Name;
  /// Of its bytes, what counts.
  double Share;
};

bool isCode(const SymbolRef &Symbol, const ObjectFile &Object) {
  const section_iterator Section =
      valueOr(Symbol.getSection(), Object.section_end());
  return Section != Object.section_end() && Section->isText() &&
         valueOr(Symbol.getType(), SymbolRef::ST_Unknown) ==
             SymbolRef::ST_Function;
}

} // namespace

Functions definedIn(const Module &M) {
  Functions Names;
  for (const Function &F : M)
    if (!F.isDeclaration())
      Names.insert(
          escaped(GlobalValue::dropLLVMManglingEscape(F.getName()).str()));
  return Names;
}

void addSizes(Build &Of, const ObjectFile &Object, const Functions &Defined,
              char Prefix) {
  for (const SectionRef &Section : Object.sections())
    if (Section.isText())
      Of.CodeBytes += Section.getSize();
  std::map<Place, Code> ByPlace;
  BytesByPlace Bytes;
  std::set<Place> Outlined;
  for (const auto &[Symbol, Size] : computeSymbolSizes(Object)) {
    if (Size == 0 || !isCode(Symbol, Object))
      continue;
    StringRef Name = valueOr(Symbol.getName(), StringRef());
    if (Prefix && Name.starts_with(StringRef(&Prefix, 1)))
      Name = Name.drop_front();
    const double Share = valueOr(Symbol.getFlags(), 0u) & SymbolRef::SF_Weak
                             ? ShareOfInlineFunction
                             : 1;
    const Place At = {
        valueOr(Symbol.getSection(), Object.section_end())->getIndex(),
        valueOr(Symbol.getAddress(), uint64_t(0))};
    const Code Here = {escaped(std::string_view(Name)), Share};
    const auto [Known, IsNew] = ByPlace.try_emplace(At, Here);
    if (IsNew ||
        (Defined.count(Here.Name) && !Defined.count(Known->second.Name))) {
      Known->second = Here;
      Bytes[At] = Size;
      if (isOutlined(Name))
        Outlined.insert(At);
    }
  }
  if (const auto *const Elf = dyn_cast<ELFObjectFileBase>(&Object);
      Elf && !Outlined.empty())
    chargeOutlined(Bytes, Outlined, *Elf);
  for (const auto &[At, Here] : ByPlace)
    if (Bytes[At] > 0)
      Of.Sizes[Here.Name] += Bytes[At] * Here.Share;
}

} // namespace mlgo::search
