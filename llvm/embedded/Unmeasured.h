// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

/// \file
/// Warnings where an embedded policy decides that was not measured there, and
/// where it does not decide because it was measured to be worse.
///
/// Each stands once in a process on the standard error, -Werror does not make
/// it an error, and -mlgo-warn-unmeasured=false switches it off. A program
/// without the policy, and one whose user answers through the interactive
/// channel, says nothing.

#ifndef MLGO_LLVM_EMBEDDED_UNMEASURED_H
#define MLGO_LLVM_EMBEDDED_UNMEASURED_H

#include <cstddef>

#include "EmbeddedModel.h"

namespace llvm {
class Module;
class Triple;
} // namespace llvm

namespace mlgo {

/// The policy decides in code for `Target`.
void warnIfTargetIsUnmeasured(const PolicySlot &Slot,
                              const llvm::Triple &Target);

/// Whether LLVM's heuristic evicts in `M` in place of the policy: `M` has a
/// profile, with which the policy alone was measured to be worse
/// (models/regalloc_eviction/README.md), and no option asks for it all the
/// same.
bool yieldsToHeuristic(const PolicySlot &Slot, const llvm::Module &M);

/// The allocator may choose among `Registers`; the model has `Positions`, and
/// LLVM's heuristic decides about the rest.
void warnIfPositionsAreMissing(const PolicySlot &Slot, std::size_t Registers,
                               std::size_t Positions);

} // namespace mlgo

#endif // MLGO_LLVM_EMBEDDED_UNMEASURED_H
