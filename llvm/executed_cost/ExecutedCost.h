// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

/// \file
/// What a call of a function executes, as estimated from the frequencies of its
/// blocks (README.md).

#ifndef MLGO_LLVM_EXECUTED_COST_EXECUTEDCOST_H
#define MLGO_LLVM_EXECUTED_COST_EXECUTEDCOST_H

#include <cstdint>
#include <optional>

namespace llvm {
class Function;
class MachineBlockFrequencyInfo;
class MachineFunction;
} // namespace llvm

namespace mlgo {

/// Per call of the function; all numbers are >= 0.
struct ExecutedCost {
  /// Instructions, without the prologue and the epilogue.
  double Instructions = 0;
  /// Loads and stores, without those of calls. An instruction that does both
  /// counts twice.
  double MemoryReferences = 0;
  /// Callee-saved registers that the function writes. The prologue saves each
  /// of them, the epilogue restores it.
  double CalleeSavedRegisters = 0;
};

/// \param MF after the virtual registers are replaced, so that spills, reloads
///   and remaining copies are its instructions.
ExecutedCost executedCost(const llvm::MachineFunction &MF,
                          const llvm::MachineBlockFrequencyInfo &MBFI);

/// How often the module's profile says that the function was called. Empty
/// without a profile.
std::optional<uint64_t> callsOf(const llvm::Function &F);

} // namespace mlgo

#endif // MLGO_LLVM_EXECUTED_COST_EXECUTEDCOST_H
