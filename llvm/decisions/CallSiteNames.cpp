// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "CallSiteNames.h"
#include "DecisionFile.h"

#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/IR/Constants.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/InstrTypes.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/IR/LLVMContext.h"
#include "llvm/IR/Metadata.h"
#include "llvm/IR/Module.h"

using namespace llvm;

namespace mlgo {

CallSiteNames::CallSiteNames(Module &M)
    : M(M), Kind(M.getContext().getMDKindID("mlgo.call")) {
  LLVMContext &Context = M.getContext();
  Type *const Int32 = Type::getInt32Ty(Context);
  DenseMap<const Function *, uint32_t> Calls;
  for (Function &F : M) {
    Calls.clear();
    MDString *const Origin = MDString::get(Context, F.getName());
    for (Instruction &I : instructions(F)) {
      auto *const Call = dyn_cast<CallBase>(&I);
      if (!Call || isa<IntrinsicInst>(Call))
        continue;
      // No advisor is asked about a callee without a body. An indirect call may
      // become direct.
      const Function *const Callee = Call->getCalledFunction();
      if (Callee && Callee->isDeclaration())
        continue;
      Constant *const Ordinal = ConstantInt::get(Int32, Calls[Callee]++);
      Call->setMetadata(
          Kind,
          MDNode::get(Context, {Origin, ConstantAsMetadata::get(Ordinal)}));
    }
  }
}

CallSiteNames::~CallSiteNames() {
  for (Function &F : M)
    for (Instruction &I : instructions(F))
      if (isa<CallBase>(I))
        I.setMetadata(Kind, nullptr);
}

std::string CallSiteNames::nextNameOf(const CallBase &CB) {
  StringRef Origin;
  uint64_t Ordinal = 0;
  // Passes that write a call anew, with fewer arguments, drop the mark. The
  // occurrence tells such calls apart. The bitcode may come with metadata of
  // this kind on calls that were not marked, so its form is checked.
  const MDNode *const Mark = CB.getMetadata(Kind);
  if (Mark && Mark->getNumOperands() == 2) {
    if (const auto *const Written =
            dyn_cast_or_null<MDString>(Mark->getOperand(0)))
      Origin = Written->getString();
    if (const auto *const Position =
            mdconst::dyn_extract_or_null<ConstantInt>(Mark->getOperand(1)))
      Ordinal = Position->getLimitedValue();
  }
  std::string Name;
  appendEscaped(Name, CB.getCaller()->getName());
  Name += '\t';
  appendEscaped(Name, CB.getCalledFunction()->getName());
  Name += '\t';
  appendEscaped(Name, Origin);
  Name += '\t' + utostr(Ordinal);
  const unsigned Occurrence = Questions[Name]++;
  return Name + '\t' + utostr(Occurrence);
}

} // namespace mlgo
