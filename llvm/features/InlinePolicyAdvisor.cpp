#include "InlinePolicyAdvisor.h"

#include "InliningFeatures.h"

#include "llvm/Analysis/InlineModelFeatureMaps.h"
#include "llvm/Config/llvm-config.h"

#include <utility>

using namespace llvm;

mlgo::InlinePolicyAdvisor::InlinePolicyAdvisor(Module &M, ModuleAnalysisManager &MAM, const RunnerFactory &GetRunner,
                                               DefaultAdvice GetDefaultAdvice)
#if LLVM_VERSION_MAJOR < 22
    : MLInlineAdvisor(M, MAM, GetRunner(withInliningFeatures(FeatureMap)), std::move(GetDefaultAdvice)) {
}
#else
    : MLInlineAdvisor(
          M, MAM,
          [&](const std::vector<TensorSpec> &Features) { return GetRunner(withInliningFeatures(Features)); },
          std::move(GetDefaultAdvice)) {
}
#endif

std::unique_ptr<MLInlineAdvice> mlgo::InlinePolicyAdvisor::getAdviceFromModel(CallBase &CB,
                                                                              OptimizationRemarkEmitter &ORE) {
  return std::make_unique<MLInlineAdvice>(this, CB, ORE, askPolicy(CB));
}

bool mlgo::InlinePolicyAdvisor::askPolicy(CallBase &CB) {
#if LLVM_VERSION_MAJOR < 22
  const std::size_t First = FeatureMap.size();
#else
  const std::size_t First = getFeatureMap().size();
#endif
  setInliningFeatures(*ModelRunner, First, CB, *this, FAM);
  return ModelRunner->evaluate<int64_t>() != 0;
}
