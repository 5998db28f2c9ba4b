// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

/// \file
/// The inliner's advisor of development programs outside development mode:
/// decisions that are given (llvm/decisions), or the error that there is no
/// policy inside.

#include "DecidedInlineAdvisor.h"

using namespace llvm;

std::unique_ptr<InlineAdvisor>
llvm::getReleaseModeAdvisor(Module &M, ModuleAnalysisManager &MAM,
                            mlgo::DefaultAdvice GetDefaultAdvice) {
  if (auto Decisions = mlgo::InliningDecisions::of(M, /*HasPolicy=*/false))
    return mlgo::decidedInlineAdvisor(M, MAM, /*GetRunner=*/nullptr,
                                      GetDefaultAdvice, std::move(Decisions));
  if (mlgo::decisionsReplaceDefault())
    return mlgo::defaultInlineAdvisor(M, MAM, GetDefaultAdvice);
  return getPolicyAdvisor(M, MAM, GetDefaultAdvice);
}
