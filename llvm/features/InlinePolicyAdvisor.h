// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

/// \file
/// LLVM's advisor with an embedded policy, which is told the features of this
/// folder too.

#ifndef MLGO_LLVM_FEATURES_INLINEPOLICYADVISOR_H
#define MLGO_LLVM_FEATURES_INLINEPOLICYADVISOR_H

#include <functional>
#include <memory>
#include <vector>

#include "llvm/Analysis/MLInlineAdvisor.h"
#include "llvm/Analysis/MLModelRunner.h"
#include "llvm/Analysis/TensorSpec.h"
#include "llvm/IR/Module.h"

namespace mlgo {

using DefaultAdvice = std::function<bool(llvm::CallBase &)>;
/// Inputs → what evaluates the policy.
using RunnerFactory = std::function<std::unique_ptr<llvm::MLModelRunner>(
    const std::vector<llvm::TensorSpec> &)>;

class InlinePolicyAdvisor : public llvm::MLInlineAdvisor {
public:
  InlinePolicyAdvisor(llvm::Module &M, llvm::ModuleAnalysisManager &MAM,
                      const RunnerFactory &GetRunner,
                      DefaultAdvice GetDefaultAdvice);

protected:
  std::unique_ptr<llvm::MLInlineAdvice>
  getAdviceFromModel(llvm::CallBase &CB,
                     llvm::OptimizationRemarkEmitter &ORE) override;

  /// The policy's answer about `CB`, of which LLVM's features are set.
  bool askPolicy(llvm::CallBase &CB);
};

} // namespace mlgo

#endif // MLGO_LLVM_FEATURES_INLINEPOLICYADVISOR_H
