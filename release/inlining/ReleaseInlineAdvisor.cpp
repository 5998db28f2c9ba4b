// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

/// \file
/// The inliner's advisor of release programs: limits the embedded policy, and
/// decisions that are given (llvm/decisions), to the functions that they are
/// for (README.md).

#include "ComparedInlineAdvisors.h"
#include "DecidedInlineAdvisor.h"
#include "EmbeddedModel.h"
#include "Embeddings.h"
#include "GivenInlineAdvisor.h"
#include "InlinePolicyAdvisor.h"
#include "InlinerSizeModel.h"
#include "Options.h"
#include "PolicyTarget.h"
#include "Unmeasured.h"
#include "UsageError.h"

#include "llvm/Analysis/InlineAdvisor.h"
#include "llvm/Analysis/MLInlineAdvisor.h"
#include "llvm/Analysis/OptimizationRemarkEmitter.h"
#include "llvm/Analysis/ReleaseModeModelRunner.h"
#include "llvm/IR/DiagnosticInfo.h"
#include "llvm/IR/Dominators.h"
#include "llvm/IR/Instruction.h"
#include "llvm/IR/Module.h"
#include "llvm/Support/CommandLine.h"
#include "llvm/TargetParser/Triple.h"

#include <atomic>
#include <functional>
#include <memory>
#include <string>
#include <utility>

using namespace llvm;

using mlgo::DefaultAdvice;

namespace {

bool isForSize(const Function &F) {
  return !F.isDeclaration() && F.hasOptSize();
}

/// Or becomes a part of such functions alone: clang gives a coroutine's
/// wrappers of await_suspend no attribute of size.
bool asksForSize(const Function &F) {
  if (isForSize(F) || !F.hasLocalLinkage() ||
      !F.hasFnAttribute(Attribute::AlwaysInline) || F.use_empty())
    return isForSize(F);
  return all_of(F.users(), [](const User *U) {
    const auto *I = dyn_cast<Instruction>(U);
    return I && isForSize(*I->getFunction());
  });
}

/// Advice of the default heuristic's, of which the other advisor takes notice.
using FollowedAdvice =
    std::function<std::unique_ptr<InlineAdvice>(CallBase &, bool Inline)>;

/// The policy in functions that ask for size, the default in all others.
class PolicyForSize final : public InlineAdvisor {
public:
  PolicyForSize(Module &M, FunctionAnalysisManager &FAM,
                std::unique_ptr<InlineAdvisor> Policy, FollowedAdvice Follow,
                DefaultAdvice GetDefaultAdvice)
      : InlineAdvisor(M, FAM), Policy(std::move(Policy)),
        Follow(std::move(Follow)),
        GetDefaultAdvice(std::move(GetDefaultAdvice)) {}

  void onPassEntry(LazyCallGraph::SCC *SCC) override {
    Policy->onPassEntry(SCC);
  }
  void onPassExit(LazyCallGraph::SCC *SCC) override { Policy->onPassExit(SCC); }
  void print(raw_ostream &OS) const override { Policy->print(OS); }

private:
  std::unique_ptr<InlineAdvice> getAdviceImpl(CallBase &CB) override {
    if (asksForSize(*CB.getCaller()))
      return Policy->getAdvice(CB);
    return Follow(CB, GetDefaultAdvice(CB));
  }

  /// Reached for mandatory decisions alone, which are the same for both.
  std::unique_ptr<InlineAdvice> getMandatoryAdvice(CallBase &CB,
                                                   bool) override {
    return Policy->getAdvice(CB, /*MandatoryOnly=*/true);
  }

  const std::unique_ptr<InlineAdvisor> Policy;
  const FollowedAdvice Follow;
  const DefaultAdvice GetDefaultAdvice;
};

/// Once in a process: the back ends of ThinLTO compile many modules, in several
/// threads.
void warnOnce(Module &M, const mlgo::SlotUsage &Usage) {
  static std::atomic_flag Warned = ATOMIC_FLAG_INIT;
  // Sanitizers add local functions to modules of data, which have nothing to
  // ask for.
  const bool HasCode = any_of(M, [](const Function &F) {
    return !F.isDeclaration() && !F.hasLocalLinkage();
  });
  if (!HasCode || Warned.test_and_set())
    return;
  // Named, for DiagnosticInfoGeneric keeps a reference.
  const std::string Message =
      std::string(Usage.Flag) + ": the policy for " + Usage.Slot.Problem +
      " decides only in functions that are optimised for size, and " +
      M.getModuleIdentifier() +
      " has none: the default decides. Compile with -Oz or -Os, or remove the "
      "option";
  M.getContext().diagnose(DiagnosticInfoGeneric(Message, DS_Warning));
}

mlgo::RunnerFactory embeddedPolicy(LLVMContext &Context) {
  return [&Context](const std::vector<TensorSpec> &Inputs) {
    return std::make_unique<ReleaseModeModelRunner<InlinerSizeModel>>(
        Context, Inputs, DecisionName);
  };
}

/// Before the advisor of the policy is made.
void observeWhatPolicyWants(Module &M, ModuleAnalysisManager &MAM) {
  const mlgo::SlotUsage &Usage = mlgo::usageOf(InlinerSizeModel::slot());
  const char *const Vocabulary = mlgo::chosenPolicy(Usage.Slot)->Vocabulary;
  if (*Vocabulary)
    mlgo::observeEmbeddings(M, MAM, Vocabulary, Usage.Flag);
}

std::unique_ptr<InlineAdvisor> policyAdvisor(Module &M,
                                             ModuleAnalysisManager &MAM,
                                             DefaultAdvice GetDefaultAdvice) {
  observeWhatPolicyWants(M, MAM);
  return std::make_unique<mlgo::InlinePolicyAdvisor>(
      M, MAM, embeddedPolicy(M.getContext()), std::move(GetDefaultAdvice));
}

/// The decisions that are given for a module, or null.
std::unique_ptr<mlgo::InliningDecisions>
decisionsOf(Module &M, const mlgo::SlotUsage &Usage, bool AsksChannel) {
  auto Decisions =
      mlgo::InliningDecisions::of(M, /*HasPolicy=*/Usage.Slot.Count > 0);
  if ((Decisions || mlgo::comparedInliners()) && AsksChannel)
    mlgo::endWithUsageError(Twine(Usage.Channel) +
                            " cannot be combined with -mlgo-decisions or " +
                            "-mlgo-decisions-taken. Remove one of them");
  return Decisions;
}

FunctionAnalysisManager &functionAnalyses(Module &M,
                                          ModuleAnalysisManager &MAM) {
  return MAM.getResult<FunctionAnalysisManagerModuleProxy>(M).getManager();
}

/// \param Policy an MLInlineAdvisor.
std::unique_ptr<InlineAdvisor>
policyForSize(Module &M, FunctionAnalysisManager &FAM,
              std::unique_ptr<InlineAdvisor> Policy,
              DefaultAdvice GetDefaultAdvice) {
  auto *const Tracking = static_cast<MLInlineAdvisor *>(Policy.get());
  // As with LLVM's -ml-inliner-skip-policy, the advice updates the features of
  // the module unless the advisor has stopped. It cannot do so for an
  // unreachable block, where LLVM's advisor never inlines and the default may.
  auto Follow = [Tracking, &FAM](CallBase &CB,
                                 bool Inline) -> std::unique_ptr<InlineAdvice> {
    auto &ORE =
        FAM.getResult<OptimizationRemarkEmitterAnalysis>(*CB.getCaller());
    const auto &DT = FAM.getResult<DominatorTreeAnalysis>(*CB.getCaller());
    if (Tracking->isForcedToStop() || !DT.isReachableFromEntry(CB.getParent()))
      return std::make_unique<InlineAdvice>(Tracking, CB, ORE, Inline);
    return std::make_unique<MLInlineAdvice>(Tracking, CB, ORE, Inline);
  };
  return std::make_unique<PolicyForSize>(M, FAM, std::move(Policy),
                                         std::move(Follow),
                                         std::move(GetDefaultAdvice));
}

std::unique_ptr<InlineAdvisor>
decidedForSize(Module &M, ModuleAnalysisManager &MAM,
               DefaultAdvice GetDefaultAdvice,
               std::unique_ptr<mlgo::InliningDecisions> Decisions) {
  FunctionAnalysisManager &FAM = functionAnalyses(M, MAM);
  if (Decisions->asksPolicy()) {
    observeWhatPolicyWants(M, MAM);
    auto Decided =
        mlgo::decidedInlineAdvisor(M, MAM, embeddedPolicy(M.getContext()),
                                   GetDefaultAdvice, std::move(Decisions));
    return policyForSize(M, FAM, std::move(Decided),
                         std::move(GetDefaultAdvice));
  }
  auto Given = std::make_unique<mlgo::GivenInlineAdvisor>(
      M, FAM, GetDefaultAdvice, std::move(Decisions));
  auto Follow = [&Following = *Given](CallBase &CB, bool Inline) {
    return Following.followed(CB, Inline);
  };
  return std::make_unique<PolicyForSize>(
      M, FAM, std::move(Given), std::move(Follow), std::move(GetDefaultAdvice));
}

/// What -enable-ml-inliner=release asks in a module that has functions for
/// size.
std::unique_ptr<InlineAdvisor> releasedPolicy(Module &M,
                                              ModuleAnalysisManager &MAM,
                                              const mlgo::SlotUsage &Usage,
                                              DefaultAdvice GetDefaultAdvice) {
  auto Policy = policyAdvisor(M, MAM, GetDefaultAdvice);
  if (Usage.Where != mlgo::DecidesIn::FunctionsForSize)
    return Policy;
  mlgo::warnIfTargetIsUnmeasured(Usage.Slot, Triple(M.getTargetTriple()));
  return policyForSize(M, functionAnalyses(M, MAM), std::move(Policy),
                       std::move(GetDefaultAdvice));
}

} // namespace

std::unique_ptr<InlineAdvisor>
llvm::getReleaseModeAdvisor(Module &M, ModuleAnalysisManager &MAM,
                            DefaultAdvice GetDefaultAdvice) {
  const mlgo::SlotUsage &Usage = mlgo::usageOf(InlinerSizeModel::slot());
  const mlgo::PolicyTarget Target{Triple(M.getTargetTriple())};
  const bool AsksChannel = mlgo::isGiven(StringRef(Usage.Channel).ltrim('-'));
  // A selector that names no policy is an error also where the default decides.
  const bool AsksPolicy = !AsksChannel && mlgo::chosenPolicy(Usage.Slot);
  auto Decisions = decisionsOf(M, Usage, AsksChannel);
  const bool HasFunctionsForSize = any_of(M, isForSize);
  if (Decisions && HasFunctionsForSize)
    return decidedForSize(M, MAM, std::move(GetDefaultAdvice),
                          std::move(Decisions));
  if (const mlgo::AtDifference &Choose = mlgo::comparedInliners();
      Choose && AsksPolicy && HasFunctionsForSize)
    return mlgo::comparedInlineAdvisors(
        M, functionAnalyses(M, MAM),
        mlgo::defaultInlineAdvisor(M, MAM, GetDefaultAdvice),
        releasedPolicy(M, MAM, Usage, GetDefaultAdvice), Choose);
  if (mlgo::decisionsReplaceDefault())
    return mlgo::defaultInlineAdvisor(M, MAM, std::move(GetDefaultAdvice));
  // LLVM's own advisor asks the channel, and reports an empty slot.
  if (!AsksPolicy)
    return getPolicyAdvisor(M, MAM, GetDefaultAdvice);
  if (Usage.Where == mlgo::DecidesIn::FunctionsForSize &&
      !HasFunctionsForSize) {
    warnOnce(M, Usage);
    return mlgo::defaultInlineAdvisor(M, MAM, std::move(GetDefaultAdvice));
  }
  return releasedPolicy(M, MAM, Usage, std::move(GetDefaultAdvice));
}
