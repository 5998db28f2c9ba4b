// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

/// \file
/// How many instructions functions have while calls are inlined.

#ifndef MLGO_LLVM_DECISIONS_INSTRUCTIONCOUNT_H
#define MLGO_LLVM_DECISIONS_INSTRUCTIONCOUNT_H

#include "llvm/ADT/SetVector.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/IR/Dominators.h"

#include <cstdint>

namespace llvm {
class BasicBlock;
class CallBase;
class Function;
} // namespace llvm

namespace mlgo {

/// Counts as LLVM's FunctionPropertiesInfo::TotalInstructionCount does: in
/// reachable blocks, without instructions for debuggers and profilers.
int64_t instructionsOf(const llvm::Function &F, const llvm::DominatorTree &DT);

/// The change of the caller by one inlining. Looks at the blocks that may
/// change, as LLVM's FunctionPropertiesUpdater does: at the same ones, because
/// this count must stop an advisor at the same call.
class InliningGrowth {
public:
  /// The call must not have been inlined yet.
  explicit InliningGrowth(llvm::CallBase &CB);

  /// By how many instructions the caller has grown, after the call was inlined.
  /// Brings `DT`, the caller's, up to date.
  int64_t finish(llvm::DominatorTree &DT) const;

private:
  using Blocks = llvm::SmallSetVector<llvm::BasicBlock *, 8>;

  void addEdgesFrom(llvm::BasicBlock &From);
  void update(llvm::DominatorTree &DT) const;
  int64_t reachableAfter(const llvm::DominatorTree &DT) const;
  int64_t unreachableAfter(const llvm::DominatorTree &DT) const;

  llvm::BasicBlock &CallBlock;
  llvm::BasicBlock &Entry;
  /// The blocks that use what the call returns, but for its own.
  Blocks Users;
  /// The blocks that follow the call's block, and those that follow its landing
  /// pad.
  Blocks Successors;
  /// The edges to them, which may be gone afterwards.
  llvm::SmallVector<llvm::DominatorTree::UpdateType, 4> Edges;
  int64_t Before = 0;
};

} // namespace mlgo

#endif // MLGO_LLVM_DECISIONS_INSTRUCTIONCOUNT_H
