// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

/// \file
/// Advisors of modules in which a policy or the default decides, with decisions
/// that are given or without.

#ifndef MLGO_LLVM_DECISIONS_DECIDEDINLINEADVISOR_H
#define MLGO_LLVM_DECISIONS_DECIDEDINLINEADVISOR_H

#include <functional>
#include <memory>
#include <vector>

#include "InlinePolicyAdvisor.h"
#include "InliningDecisions.h"

#include "llvm/Analysis/MLInlineAdvisor.h"

namespace mlgo {

/// Asks the questions of LLVM's MLInlineAdvisor, in its order and with its
/// bookkeeping, and answers them from `Decisions` or by the policy. Objects
/// therefore equal those of the development compiler with the same decisions.
///
/// \param GetRunner the policy for "otherwise policy". Null: the decisions do
///   not ask for one. GivenInlineAdvisor is then faster, and this advisor is
///   what it is compared with.
std::unique_ptr<llvm::MLInlineAdvisor>
decidedInlineAdvisor(llvm::Module &M, llvm::ModuleAnalysisManager &MAM,
                     const RunnerFactory &GetRunner,
                     DefaultAdvice GetDefaultAdvice,
                     std::unique_ptr<InliningDecisions> Decisions);

/// The default heuristic, for a module without decisions: the object is the
/// default's, byte for byte. The bookkeeping of MLInlineAdvisor computes
/// analyses, and passes that use whatever is cached would then write other
/// code.
std::unique_ptr<llvm::InlineAdvisor>
defaultInlineAdvisor(llvm::Module &M, llvm::ModuleAnalysisManager &MAM,
                     DefaultAdvice GetDefaultAdvice);

} // namespace mlgo

namespace llvm {
/// LLVM's getReleaseModeAdvisor, renamed in the compile of MLInlineAdvisor.cpp.
std::unique_ptr<InlineAdvisor>
getPolicyAdvisor(Module &M, ModuleAnalysisManager &MAM,
                 mlgo::DefaultAdvice GetDefaultAdvice);
} // namespace llvm

#endif // MLGO_LLVM_DECISIONS_DECIDEDINLINEADVISOR_H
