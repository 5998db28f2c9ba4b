// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "DecidedInlineAdvisor.h"

#include "llvm/Analysis/InlineModelFeatureMaps.h"
#include "llvm/Analysis/NoInferenceModelRunner.h"
#include "llvm/Analysis/OptimizationRemarkEmitter.h"
#include "llvm/IR/Module.h"

#include <utility>

using namespace llvm;

namespace {

class DecidedInlineAdvisor final : public mlgo::InlinePolicyAdvisor {
public:
  DecidedInlineAdvisor(Module &M, ModuleAnalysisManager &MAM,
                       const mlgo::RunnerFactory &GetRunner,
                       mlgo::DefaultAdvice GetDefaultAdvice,
                       std::unique_ptr<mlgo::InliningDecisions> Decisions)
      : InlinePolicyAdvisor(M, MAM, GetRunner, std::move(GetDefaultAdvice)),
        Decisions(std::move(Decisions)) {}

private:
  std::unique_ptr<MLInlineAdvice>
  getAdviceFromModel(CallBase &CB, OptimizationRemarkEmitter &ORE) override {
    // Asked as by the development compiler: the default's analyses stay cached
    // for later passes.
    const bool Default =
        !Decisions->keepsAccountAlone() && GetDefaultAdvice(CB);
    const auto Policy = [&] { return askPolicy(CB); };
    const auto Cost = [this] {
      return *ModelRunner->getTensor<int64_t>(FeatureIndex::cost_estimate);
    };
    const auto Given = Decisions->decide(
        CB, {[Default] { return Default; }, Policy, Cost}, ORE);
    return std::make_unique<MLInlineAdvice>(this, CB, ORE, Given.Inline);
  }

  const std::unique_ptr<mlgo::InliningDecisions> Decisions;
};

/// The default's decision with a remark. LLVM's DefaultInlineAdvice names the
/// cost, which this advisor does not get.
class DefaultDecision final : public InlineAdvice {
public:
  using InlineAdvice::InlineAdvice;

private:
  void recordInliningImpl() override {
    emitInlinedInto(ORE, DLoc, Block, *Callee, *Caller, /*IsMandatory=*/false);
  }
  void recordInliningWithCalleeDeletedImpl() override { recordInliningImpl(); }
};

class DefaultEverywhere final : public InlineAdvisor {
public:
  DefaultEverywhere(Module &M, FunctionAnalysisManager &FAM,
                    mlgo::DefaultAdvice GetDefaultAdvice)
      : InlineAdvisor(M, FAM), GetDefaultAdvice(std::move(GetDefaultAdvice)) {}

private:
  std::unique_ptr<InlineAdvice> getAdviceImpl(CallBase &CB) override {
    return std::make_unique<DefaultDecision>(this, CB, getCallerORE(CB),
                                             GetDefaultAdvice(CB));
  }

  const mlgo::DefaultAdvice GetDefaultAdvice;
};

} // namespace

std::unique_ptr<MLInlineAdvisor>
mlgo::decidedInlineAdvisor(Module &M, ModuleAnalysisManager &MAM,
                           const RunnerFactory &GetRunner,
                           DefaultAdvice GetDefaultAdvice,
                           std::unique_ptr<InliningDecisions> Decisions) {
  const RunnerFactory WithoutPolicy =
      [&M](const std::vector<TensorSpec> &Inputs) {
        return std::make_unique<NoInferenceModelRunner>(M.getContext(), Inputs);
      };
  return std::make_unique<DecidedInlineAdvisor>(
      M, MAM, GetRunner ? GetRunner : WithoutPolicy,
      std::move(GetDefaultAdvice), std::move(Decisions));
}

std::unique_ptr<InlineAdvisor>
mlgo::defaultInlineAdvisor(Module &M, ModuleAnalysisManager &MAM,
                           DefaultAdvice GetDefaultAdvice) {
  auto &FAM = MAM.getResult<FunctionAnalysisManagerModuleProxy>(M).getManager();
  return std::make_unique<DefaultEverywhere>(M, FAM,
                                             std::move(GetDefaultAdvice));
}
