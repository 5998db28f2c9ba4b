// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "SimplifiedFunction.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallPtrSet.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/Bitcode/BitcodeReader.h"
#include "llvm/Bitcode/BitcodeWriter.h"
#include "llvm/IR/Constants.h"
#include "llvm/IR/DebugInfo.h"
#include "llvm/IR/Function.h"
#include "llvm/IR/GlobalVariable.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/Instructions.h"
#include "llvm/IR/Metadata.h"
#include "llvm/IR/Module.h"
#include "llvm/Support/Error.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/raw_ostream.h"
#include "llvm/Transforms/Utils/Cloning.h"
#include "llvm/Transforms/Utils/ValueMapper.h"

#include <utility>

using namespace llvm;

namespace mlgo::search {
namespace {

/// Marks symbols that are no mere declarations: another copy of the module must
/// have them.
constexpr GlobalValue::LinkageTypes MustExist =
    GlobalValue::ExternalWeakLinkage;

/// The symbols to which a function refers.
class References {
public:
  explicit References(const StringSet<> &LocalSymbols)
      : LocalSymbols(LocalSymbols) {}

  /// Returns: whether another copy of the module can have all of them.
  bool addAll(const Function &F) {
    if (F.hasPersonalityFn() && !add(F.getPersonalityFn()))
      return false;
    return all_of(instructions(F), [this](const Instruction &I) {
      // Metadata are not written anew, so they must refer to no symbol.
      return !I.hasMetadata(LLVMContext::MD_callees) &&
             all_of(I.operand_values(),
                    [this](const Value *V) { return add(V); });
    });
  }

  ArrayRef<const GlobalValue *> symbols() const { return Symbols; }

private:
  bool add(const Value *V) {
    if (const auto *const Wrapped = dyn_cast<MetadataAsValue>(V))
      return !isa<ConstantAsMetadata>(Wrapped->getMetadata()) ||
             isa<ConstantData>(
                 cast<ConstantAsMetadata>(Wrapped->getMetadata())->getValue());
    const auto *const C = dyn_cast<Constant>(V);
    if (!C || isa<ConstantData>(C) || !Seen.insert(C).second)
      return true;
    if (isa<BlockAddress>(C))
      return false;
    const auto *const Symbol = dyn_cast<GlobalValue>(C);
    if (!Symbol)
      return all_of(C->operand_values(),
                    [this](const Value *Part) { return add(Part); });
    Symbols.push_back(Symbol);
    return Symbol->hasName() && (!Symbol->hasLocalLinkage() ||
                                 LocalSymbols.contains(Symbol->getName()));
  }

  const StringSet<> &LocalSymbols;
  SmallPtrSet<const Constant *, 16> Seen;
  SmallVector<const GlobalValue *, 16> Symbols;
};

GlobalValue *declare(const GlobalValue &Symbol, Module &In) {
  const auto Linkage =
      Symbol.isDeclaration() ? GlobalValue::ExternalLinkage : MustExist;
  if (const auto *const F = dyn_cast<Function>(&Symbol)) {
    auto *const Declared = Function::Create(
        F->getFunctionType(), Linkage, F->getAddressSpace(), F->getName(), &In);
    Declared->setCallingConv(F->getCallingConv());
    Declared->setAttributes(F->getAttributes());
    return Declared;
  }
  return new GlobalVariable(In, Symbol.getValueType(), /*isConstant=*/false,
                            MustExist, nullptr, Symbol.getName(), nullptr,
                            Symbol.getThreadLocalMode(),
                            Symbol.getAddressSpace());
}

bool hasAddressTaken(const Function &F) {
  return any_of(F, [](const BasicBlock &BB) { return BB.hasAddressTaken(); });
}

} // namespace

std::string bitcodeOf(const Function &F, const StringSet<> &LocalSymbols) {
  References To(LocalSymbols);
  if (!F.hasName() || hasAddressTaken(F) || !To.addAll(F))
    return "";
  Module Holder(F.getName(), F.getContext());
  Holder.setDataLayout(F.getParent()->getDataLayout());
  auto *const Copy =
      Function::Create(F.getFunctionType(), GlobalValue::ExternalLinkage,
                       F.getAddressSpace(), F.getName(), &Holder);
  ValueToValueMapTy Copies;
  Copies[&F] = Copy;
  for (const GlobalValue *const Symbol : To.symbols())
    if (Symbol != &F)
      Copies[Symbol] = declare(*Symbol, Holder);
  for (const auto &[From, Into] : zip_equal(F.args(), Copy->args()))
    Copies[&From] = &Into;
  for (const BasicBlock &BB : F)
    Copies[&BB] = CloneBasicBlock(&BB, Copies, "", Copy);
  // Debug information, which would be another copy's.
  stripDebugInfo(*Copy);
  for (Instruction &I : instructions(*Copy))
    RemapInstruction(&I, Copies,
                     RF_NoModuleLevelChanges | RF_IgnoreMissingLocals);
  Copy->setCallingConv(F.getCallingConv());
  Copy->setAttributes(F.getAttributes());
  if (F.hasPersonalityFn())
    Copy->setPersonalityFn(MapValue(F.getPersonalityFn(), Copies));
  std::string Bitcode;
  raw_string_ostream Stream(Bitcode);
  WriteBitcodeToFile(Holder, Stream);
  return Bitcode;
}

SimplifiedFunction::SimplifiedFunction() = default;
SimplifiedFunction::~SimplifiedFunction() = default;

std::unique_ptr<SimplifiedFunction> SimplifiedFunction::read(StringRef Bitcode,
                                                             Function &F) {
  if (hasAddressTaken(F))
    return nullptr;
  Expected<std::unique_ptr<Module>> Read =
      parseBitcodeFile(MemoryBufferRef(Bitcode, F.getName()), F.getContext());
  if (!Read) {
    consumeError(Read.takeError());
    return nullptr;
  }
  std::unique_ptr<SimplifiedFunction> Known(new SimplifiedFunction);
  Known->Holder = std::move(*Read);
  Module &M = *F.getParent();
  for (GlobalValue &Symbol : Known->Holder->global_values()) {
    if (Symbol.getName() == F.getName()) {
      Known->Here[&Symbol] = &F;
      continue;
    }
    GlobalValue *Found = M.getNamedValue(Symbol.getName());
    auto *const Declared = dyn_cast<Function>(&Symbol);
    if (!Found && Declared && Symbol.getLinkage() != MustExist) {
      auto *const New = Function::Create(
          Declared->getFunctionType(), GlobalValue::ExternalLinkage,
          Declared->getAddressSpace(), Declared->getName(), &M);
      New->copyAttributesFrom(Declared);
      Found = New;
    }
    if (!Found || Found->getType() != Symbol.getType())
      return nullptr;
    Known->Here[&Symbol] = Found;
  }
  return Known;
}

void SimplifiedFunction::moveInto(Function &F) {
  Function &From = *Holder->getFunction(F.getName());
  F.setAttributes(From.getAttributes());
  for (const auto &[There, Symbol] : Here)
    There->replaceAllUsesWith(Symbol);
  if (From.hasPersonalityFn())
    F.setPersonalityFn(From.getPersonalityFn());
  for (const auto &[There, Argument] : zip_equal(From.args(), F.args()))
    There.replaceAllUsesWith(&Argument);
  F.splice(F.end(), &From);
  F.setSubprogram(nullptr);
}

} // namespace mlgo::search
