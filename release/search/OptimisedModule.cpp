// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "OptimisedModule.h"

#include "FunctionDigest.h"

#include "llvm/Analysis/TargetTransformInfo.h"
#include "llvm/IR/Function.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/Instruction.h"
#include "llvm/IR/Module.h"
#include "llvm/Support/InstructionCost.h"

using namespace llvm;

namespace mlgo::search {

std::string digestOf(Module &M) {
  std::string Digests;
  FunctionDigests Digest;
  for (Function &F : M)
    if (!F.isDeclaration())
      Digests += Digest(F);
  return Digests;
}

int64_t estimatedCode(const Module &M) {
  // An inline function counts half, as in CodeSize.h.
  int64_t Halves = 0;
  for (const Function &F : M) {
    if (F.isDeclarationForLinker())
      continue;
    const TargetTransformInfo Costs(M.getDataLayout());
    InstructionCost Sum = 0;
    for (const Instruction &I : instructions(F))
      Sum += Costs.getInstructionCost(&I, TargetTransformInfo::TCK_CodeSize);
    if (Sum.isValid())
      Halves += Sum.getValue() * (F.isWeakForLinker() ? 1 : 2);
  }
  return Halves;
}

} // namespace mlgo::search
