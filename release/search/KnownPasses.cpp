// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "KnownPasses.h"

#include "FunctionDigest.h"

#include "llvm/Analysis/CGSCCPassManager.h"
#include "llvm/IR/Function.h"
#include "llvm/IR/Instructions.h"
#include "llvm/IR/Module.h"
#include "llvm/IR/PassInstrumentation.h"
#include "llvm/Passes/PassBuilder.h"
#include "llvm/Transforms/IPO/Inliner.h"

#include <utility>

using namespace llvm;

namespace mlgo::search {

/// Tells where the analyses of functions are, which callbacks are not told.
class NotesAnalyses final : public PassInfoMixin<NotesAnalyses> {
public:
  explicit NotesAnalyses(KnownPasses &For) : For(For) {}

  PreservedAnalyses run(LazyCallGraph::SCC &C, CGSCCAnalysisManager &AM,
                        LazyCallGraph &CG, CGSCCUpdateResult &) {
    For.Analyses =
        &AM.getResult<FunctionAnalysisManagerCGSCCProxy>(C, CG).getManager();
    return PreservedAnalyses::all();
  }
  static bool isRequired() { return true; }

private:
  KnownPasses &For;
};

/// Among the passes that simplify a function: if the others are left out, the
/// call graph must be told that the function changes.
class DropsAnalyses final : public PassInfoMixin<DropsAnalyses> {
public:
  explicit DropsAnalyses(KnownPasses &For) : For(For) {}

  PreservedAnalyses run(Function &F, FunctionAnalysisManager &) {
    return For.Skipped == &F && For.Result ? PreservedAnalyses::none()
                                           : PreservedAnalyses::all();
  }
  static bool isRequired() { return true; }

private:
  KnownPasses &For;
};

namespace {

Function *functionOf(const Any &IR) {
  const auto *const F = any_cast<const Function *>(&IR);
  return F ? const_cast<Function *>(*F) : nullptr;
}

void makeUnreachable(Function &F) {
  new UnreachableInst(F.getContext(),
                      BasicBlock::Create(F.getContext(), "", &F));
}

void dropBlocks(Function &F) {
  for (BasicBlock &BB : F)
    BB.dropAllReferences();
  while (!F.empty())
    F.begin()->eraseFromParent();
}

} // namespace

void KnownPasses::registerIn(PassBuilder &Building) {
  PassInstrumentationCallbacks &Callbacks =
      *Building.getPassInstrumentationCallbacks();
  Callbacks.registerBeforeNonSkippedPassCallback(
      [this](StringRef Pass, Any IR) { before(Pass, IR); });
  Callbacks.registerShouldRunOptionalPassCallback(
      [this](StringRef, Any IR) { return shouldRun(IR); });
  Callbacks.registerAfterPassCallback(
      [this](StringRef Pass, Any IR, const PreservedAnalyses &) {
        after(Pass, IR);
      });
  Building.registerCGSCCOptimizerLateEPCallback(
      [this](CGSCCPassManager &Passes, OptimizationLevel) {
        Passes.addPass(NotesAnalyses(*this));
      });
  Building.registerScalarOptimizerLateEPCallback(
      [this](FunctionPassManager &Passes, OptimizationLevel) {
        Passes.addPass(DropsAnalyses(*this));
      });
}

void KnownPasses::start(const Module &M, const Simplified &From,
                        const KnownCode *Known) {
  Now = Phase::Inlining;
  Earlier = &From;
  Code = Known;
  for (const GlobalValue &Symbol : M.global_values())
    if (Symbol.hasLocalLinkage())
      LocalSymbols.insert(Symbol.getName());
}

void KnownPasses::before(StringRef Pass, const Any &IR) {
  Function *const F = functionOf(IR);
  // Loop passes have pipelines of their own, inside that of the function.
  if (Now != Phase::Idle && F && Pass == FunctionPassManager::name() &&
      ++Depth == 1)
    startFunction(*F);
}

bool KnownPasses::shouldRun(const Any &IR) const {
  return !Skipped || functionOf(IR) != Skipped;
}

void KnownPasses::after(StringRef Pass, const Any &IR) {
  if (Now == Phase::Idle)
    return;
  if (Pass == ModuleInlinerWrapperPass::name())
    Now = Phase::Optimising;
  Function *const F = functionOf(IR);
  if (F && Pass == FunctionPassManager::name() && --Depth == 0)
    endFunction(*F);
}

bool KnownPasses::isKnown(Function &F) {
  if (!Code)
    return false;
  if (Now == Phase::Optimising)
    return Code->count(Digest) > 0;
  const auto Found = Earlier->find(Digest);
  if (Found != Earlier->end())
    Result = SimplifiedFunction::read(Found->second, F);
  return Result != nullptr;
}

void KnownPasses::startFunction(Function &F) {
  // Passes change attributes, so nothing that was digested before holds.
  Digest = FunctionDigests()(F);
  if (Now == Phase::Optimising) {
    // Not the digest of optimised functions.
    Digest = "before " + Digest;
    // The first passes are the optimisation.
    if (!Digests.try_emplace(F.getName(), Digest).second)
      return;
  }
  if (Analyses && isKnown(F))
    takeAway(F);
}

/// What is required, such as analyses for passes of loops, then costs nothing.
void KnownPasses::takeAway(Function &F) {
  Skipped = &F;
  Analyses->invalidate(F, PreservedAnalyses::none());
  if (Result) {
    dropBlocks(F);
  } else {
    Kept = std::make_unique<Module>("", F.getContext());
    auto *const Holder = Function::Create(
        F.getFunctionType(), GlobalValue::ExternalLinkage, "", Kept.get());
    Holder->splice(Holder->begin(), &F);
  }
  makeUnreachable(F);
}

void KnownPasses::endFunction(Function &F) {
  if (Skipped == &F) {
    dropBlocks(F);
    if (Result)
      Result->moveInto(F);
    else
      F.splice(F.begin(), &*Kept->begin());
    Analyses->invalidate(F, PreservedAnalyses::none());
    Result.reset();
    Kept.reset();
    Skipped = nullptr;
  } else if (Now == Phase::Inlining && !Earlier->count(Digest)) {
    std::string Bitcode = bitcodeOf(F, LocalSymbols);
    if (!Bitcode.empty())
      Added.insert_or_assign(Digest, std::move(Bitcode));
  }
}

} // namespace mlgo::search
