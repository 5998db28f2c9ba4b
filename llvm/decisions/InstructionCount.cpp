// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "InstructionCount.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/IR/CFG.h"
#include "llvm/IR/Function.h"
#include "llvm/IR/Instructions.h"

using namespace llvm;

namespace mlgo {
namespace {

int64_t instructionsOf(const BasicBlock &BB) {
  return count_if(
      BB, [](const Instruction &I) { return !I.isDebugOrPseudoInst(); });
}

template <typename Blocks> int64_t instructionsOf(const Blocks &Counted) {
  int64_t Sum = 0;
  for (const BasicBlock *BB : Counted)
    Sum += instructionsOf(*BB);
  return Sum;
}

} // namespace

int64_t instructionsOf(const Function &F, const DominatorTree &DT) {
  int64_t Sum = 0;
  for (const BasicBlock &BB : F)
    if (DT.isReachableFromEntry(&BB))
      Sum += instructionsOf(BB);
  return Sum;
}

InliningGrowth::InliningGrowth(CallBase &CB)
    : CallBlock(*CB.getParent()), Entry(CB.getFunction()->getEntryBlock()) {
  for (User *U : CB.users())
    Users.insert(cast<Instruction>(U)->getParent());
  Users.remove(&CallBlock);
  addEdgesFrom(CallBlock);
  if (const auto *Invoke = dyn_cast<InvokeInst>(&CB))
    addEdgesFrom(*Invoke->getUnwindDest());
  // In a loop of one block the call's block follows itself.
  Successors.remove(&CallBlock);
  Blocks MayChange = Successors;
  MayChange.insert(&CallBlock);
  MayChange.insert(&Entry);
  MayChange.insert(Users.begin(), Users.end());
  Before = instructionsOf(MayChange);
}

void InliningGrowth::addEdgesFrom(BasicBlock &From) {
  const SmallSetVector<BasicBlock *, 4> Following(succ_begin(&From),
                                                  succ_end(&From));
  for (BasicBlock *const To : Following) {
    Edges.emplace_back(DominatorTree::Delete, &From, To);
    Successors.insert(To);
  }
}

int64_t InliningGrowth::finish(DominatorTree &DT) const {
  update(DT);
  return reachableAfter(DT) - Before - unreachableAfter(DT);
}

void InliningGrowth::update(DominatorTree &DT) const {
  SmallVector<DominatorTree::UpdateType, 8> Changes;
  const SmallSetVector<BasicBlock *, 4> Following(succ_begin(&CallBlock),
                                                  succ_end(&CallBlock));
  for (BasicBlock *const To : Following)
    Changes.emplace_back(DominatorTree::Insert, &CallBlock, To);
  // Edges that are gone come last, so that all new blocks are known.
  for (const DominatorTree::UpdateType &Edge : Edges)
    if (!is_contained(successors(Edge.getFrom()), Edge.getTo()))
      Changes.push_back(Edge);
  DT.applyUpdates(Changes);
}

/// The blocks that may have changed, and new ones: those between the call's
/// block and what followed it.
int64_t InliningGrowth::reachableAfter(const DominatorTree &DT) const {
  Blocks Counted;
  if (&CallBlock != &Entry)
    Counted.insert(&Entry);
  Counted.insert(Users.begin(), Users.end());
  for (BasicBlock *const BB : Successors)
    if (DT.isReachableFromEntry(BB))
      Counted.insert(BB);
  const size_t Known = Counted.size();
  Counted.insert(&CallBlock);
  for (size_t Number = Known; Number < Counted.size(); ++Number)
    for (BasicBlock *const To : successors(Counted[Number]))
      Counted.insert(To);
  return instructionsOf(Counted);
}

/// Blocks behind what followed the call, if that cannot be reached any more.
int64_t InliningGrowth::unreachableAfter(const DominatorTree &DT) const {
  Blocks Lost;
  for (BasicBlock *const BB : Successors)
    if (!DT.isReachableFromEntry(BB))
      Lost.insert(BB);
  const size_t Followed = Lost.size();
  for (size_t Number = 0; Number < Lost.size(); ++Number)
    for (BasicBlock *const To : successors(Lost[Number]))
      if (!DT.isReachableFromEntry(To))
        Lost.insert(To);
  return instructionsOf(
      ArrayRef(Lost.begin(), Lost.end()).drop_front(Followed));
}

} // namespace mlgo
