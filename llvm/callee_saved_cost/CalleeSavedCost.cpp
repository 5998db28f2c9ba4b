// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "CalleeSavedCost.h"
#include "ExecutedCost.h"

#include "llvm/CodeGen/MachineBlockFrequencyInfo.h"
#include "llvm/CodeGen/MachineFunction.h"
#include "llvm/IR/Attributes.h"
#include "llvm/IR/Function.h"
#include "llvm/Support/BlockFrequency.h"
#include "llvm/Support/CommandLine.h"

using namespace llvm;

namespace {

cl::opt<unsigned> Cost(
    "mlgo-callee-saved-cost", cl::Hidden, cl::init(0),
    cl::desc("Cost of the first use of a callee-saved register in functions "
             "whose call executes few instructions; 16384 is an access to "
             "memory at the function's entry. Default: 0, LLVM's own cost"));

/// Measured with 50, 150 and 400: docs/adr/0006, "By function".
cl::opt<unsigned> LongestCall(
    "mlgo-callee-saved-longest-call", cl::Hidden, cl::init(400),
    cl::desc("Instructions that a call executes at most in a function with "
             "-mlgo-callee-saved-cost, by the frequencies of its blocks. "
             "Default: 400"));

/// CodeGenPrepare gives the prefix to functions that a profile calls cold.
bool isCold(const Function &F) {
  return F.hasFnAttribute(Attribute::Cold) || mlgo::callsOf(F) == 0 ||
         F.getSectionPrefix() == "unlikely";
}

} // namespace

unsigned mlgo::calleeSavedCost(const MachineFunction &MF,
                               const MachineBlockFrequencyInfo &MBFI) {
  const Function &F = MF.getFunction();
  // Without a frequency of the entry no block has a relative one.
  if (Cost == 0 || F.hasOptSize() || isCold(F) ||
      MBFI.getEntryFreq() == BlockFrequency(0))
    return 0;
  return executedCost(MF, MBFI).Instructions <= LongestCall ? Cost : 0;
}
