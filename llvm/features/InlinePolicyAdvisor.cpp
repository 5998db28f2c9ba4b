// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "InlinePolicyAdvisor.h"

#include "InliningFeatures.h"

#include "llvm/Analysis/InlineModelFeatureMaps.h"

#include <utility>

using namespace llvm;

mlgo::InlinePolicyAdvisor::InlinePolicyAdvisor(Module &M,
                                               ModuleAnalysisManager &MAM,
                                               const RunnerFactory &GetRunner,
                                               DefaultAdvice GetDefaultAdvice)
    : MLInlineAdvisor(
          M, MAM,
          [&](const std::vector<TensorSpec> &Features) {
            return GetRunner(withInliningFeatures(Features));
          },
          std::move(GetDefaultAdvice)) {}

std::unique_ptr<MLInlineAdvice>
mlgo::InlinePolicyAdvisor::getAdviceFromModel(CallBase &CB,
                                              OptimizationRemarkEmitter &ORE) {
  return std::make_unique<MLInlineAdvice>(this, CB, ORE, askPolicy(CB));
}

bool mlgo::InlinePolicyAdvisor::askPolicy(CallBase &CB) {
  const std::size_t First = getFeatureMap().size();
  setInliningFeatures(*ModelRunner, First, CB, *this, FAM);
  return ModelRunner->evaluate<int64_t>() != 0;
}
