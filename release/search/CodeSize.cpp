// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "CodeSize.h"

#include "llvm/ADT/DenseMap.h"
#include "llvm/Object/SymbolSize.h"
#include "llvm/Support/Error.h"

#include <string>
#include <utility>

using namespace llvm;
using namespace llvm::object;

namespace mlgo::search {
namespace {

/// The value, or another one if the object is not as expected. Then the size of
/// a function is not known, and the search less precise.
template <typename T> T valueOr(Expected<T> Value, T Otherwise) {
  if (Value)
    return std::move(*Value);
  consumeError(Value.takeError());
  return Otherwise;
}

struct Code {
  std::string Name;
  double Bytes;
};

bool isCode(const SymbolRef &Symbol, const ObjectFile &Object) {
  const section_iterator Section =
      valueOr(Symbol.getSection(), Object.section_end());
  return Section != Object.section_end() && Section->isText() &&
         valueOr(Symbol.getType(), SymbolRef::ST_Unknown) ==
             SymbolRef::ST_Function;
}

} // namespace

void addSizes(Build &Of, const ObjectFile &Object, const Functions &Defined,
              char Prefix) {
  for (const SectionRef &Section : Object.sections())
    if (Section.isText())
      Of.CodeBytes += Section.getSize();
  DenseMap<std::pair<uint64_t, uint64_t>, Code> ByPlace;
  for (const auto &[Symbol, Size] : computeSymbolSizes(Object)) {
    if (Size == 0 || !isCode(Symbol, Object))
      continue;
    StringRef Name = valueOr(Symbol.getName(), StringRef());
    if (Prefix && Name.starts_with(StringRef(&Prefix, 1)))
      Name = Name.drop_front();
    const double Share = valueOr(Symbol.getFlags(), 0u) & SymbolRef::SF_Weak
                             ? ShareOfInlineFunction
                             : 1;
    const auto Place = std::pair(
        valueOr(Symbol.getSection(), Object.section_end())->getIndex(),
        valueOr(Symbol.getAddress(), uint64_t(0)));
    const Code Here = {escaped(std::string_view(Name)), Size * Share};
    const auto [Known, IsNew] = ByPlace.try_emplace(Place, Here);
    if (!IsNew && Defined.count(Here.Name) &&
        !Defined.count(Known->second.Name))
      Known->second = Here;
  }
  for (const auto &[_, Here] : ByPlace)
    Of.Sizes[Here.Name] += Here.Bytes;
}

} // namespace mlgo::search
