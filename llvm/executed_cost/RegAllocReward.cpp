// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

/// \file
/// The reward that training logs of register allocation contain: LLVM's
/// RegAllocScore, or with -mlgo-executed-cost what the function executes.
/// BUILD.bazel compiles LLVM's own function under the name calculateSpillScore.

#include "ExecutedCost.h"
#include "UsageError.h"

#include "RegAllocScore.h"
#include "llvm/ADT/Twine.h"
#include "llvm/Support/CommandLine.h"

#include <cmath>

using namespace llvm;

namespace llvm {
RegAllocScore calculateSpillScore(const MachineFunction &MF,
                                  const MachineBlockFrequencyInfo &MBFI);
} // namespace llvm

namespace {

enum Weight : unsigned {
  Instruction,
  MemoryReference,
  CalleeSavedRegister,
  WeightCount
};

cl::list<double> Weights(
    "mlgo-executed-cost", cl::CommaSeparated, cl::Hidden,
    cl::value_desc("instruction,memory reference,callee-saved register"),
    cl::desc("Log the frequency-weighted sum of these costs as the reward of "
             "register allocation "
             "in place of RegAllocScore; three weights, at least 0"));

void checkWeights() {
  bool Valid = Weights.size() == WeightCount;
  for (const double Value : Weights)
    Valid &= std::isfinite(Value) && Value >= 0;
  if (!Valid)
    mlgo::endWithUsageError("-mlgo-executed-cost: needs three finite numbers "
                            "that are at least 0, the weights of an "
                            "instruction, of a memory reference and of a "
                            "callee-saved register; give for example "
                            "-mlgo-executed-cost=1,1,4");
}

/// LLVM's type has no room for another sum, so the cost is expressed in stores,
/// whose weight is an option too.
RegAllocScore scoreOf(double Cost) {
  RegAllocScore Store;
  Store.onStore(1);
  if (!(Store.getScore() > 0))
    mlgo::endWithUsageError("-mlgo-executed-cost: is not supported with a "
                            "-regalloc-store-weight of 0 or less. Remove "
                            "one of the options");
  RegAllocScore Total;
  Total.onStore(Cost / Store.getScore());
  return Total;
}

} // namespace

RegAllocScore
llvm::calculateRegAllocScore(const MachineFunction &MF,
                             const MachineBlockFrequencyInfo &MBFI) {
  if (Weights.empty())
    return calculateSpillScore(MF, MBFI);
  checkWeights();
  const mlgo::ExecutedCost Cost = mlgo::executedCost(MF, MBFI);
  return scoreOf(Weights[Instruction] * Cost.Instructions +
                 Weights[MemoryReference] * Cost.MemoryReferences +
                 Weights[CalleeSavedRegister] * Cost.CalleeSavedRegisters);
}
