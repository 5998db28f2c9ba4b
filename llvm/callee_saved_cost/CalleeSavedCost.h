// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

/// \file
/// The cost of the first use of a callee-saved register, by function
/// (README.md).

#ifndef MLGO_LLVM_CALLEE_SAVED_COST_CALLEESAVEDCOST_H
#define MLGO_LLVM_CALLEE_SAVED_COST_CALLEESAVEDCOST_H

namespace llvm {
class MachineBlockFrequencyInfo;
class MachineFunction;
} // namespace llvm

namespace mlgo {

/// What saving and restoring a callee-saved register costs in `MF`, in units in
/// which an access to memory at the function's entry costs 16384. 0: LLVM's own
/// cost.
///
/// \param MF before its registers are allocated.
unsigned calleeSavedCost(const llvm::MachineFunction &MF,
                         const llvm::MachineBlockFrequencyInfo &MBFI);

} // namespace mlgo

#endif // MLGO_LLVM_CALLEE_SAVED_COST_CALLEESAVEDCOST_H
