// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

/// \file
/// The inliner's advisor of a module whose decisions ask no policy.

#ifndef MLGO_LLVM_DECISIONS_GIVENINLINEADVISOR_H
#define MLGO_LLVM_DECISIONS_GIVENINLINEADVISOR_H

#include "DecidedInlineAdvisor.h"
#include "InliningDecisions.h"

#include "llvm/ADT/DenseMap.h"
#include "llvm/Analysis/InlineAdvisor.h"

#include <cstdint>
#include <memory>

namespace mlgo {

/// Asks the questions of LLVM's MLInlineAdvisor, in its order, without the
/// features that only a policy needs. The price of a call is computed where the
/// answer depends on it. Objects equal those of MLInlineAdvisor with the same
/// answers.
///
/// Like that advisor it stops when the module has doubled
/// (-ml-advisor-size-increase-threshold), and therefore follows the number of
/// instructions.
///
/// For decisions that keep an account alone, it is LLVM's default advisor, and
/// names the calls about which it would ask otherwise. It then computes no
/// analysis that the default does not compute: passes use what is cached.
class GivenInlineAdvisor final : public llvm::InlineAdvisor {
public:
  GivenInlineAdvisor(llvm::Module &M, llvm::FunctionAnalysisManager &FAM,
                     DefaultAdvice GetDefaultAdvice,
                     std::unique_ptr<InliningDecisions> Decisions);
  ~GivenInlineAdvisor() override;

  void onPassEntry(llvm::LazyCallGraph::SCC *) override { forgetFunctions(); }
  void onPassExit(llvm::LazyCallGraph::SCC *) override { forgetFunctions(); }

  /// Advice of another's making, which this advisor takes into account.
  std::unique_ptr<llvm::InlineAdvice> followed(llvm::CallBase &CB, bool Inline);

private:
  class Followed;

  /// What may keep calls of a function from being inlined
  /// (GivenInlineAdvisor.cpp, refusalsOf).
  struct Refusals {
    bool Possible = false;
    bool HasIndirectCall = false;
    uint64_t StackBytes = 0;
  };

  std::unique_ptr<llvm::InlineAdvice>
  getAdviceImpl(llvm::CallBase &CB) override;
  std::unique_ptr<llvm::InlineAdvice> getMandatoryAdvice(llvm::CallBase &CB,
                                                         bool Advice) override;

  std::unique_ptr<llvm::InlineAdvice> byDefault(llvm::CallBase &CB);
  bool decide(llvm::CallBase &CB, llvm::OptimizationRemarkEmitter &ORE);
  bool isReachable(llvm::CallBase &CB) const;
  bool canBeInlined(llvm::CallBase &CB, bool Mandatory);
  static Refusals refusalsOf(const llvm::Function &F);

  int64_t sizeOfModule();
  int64_t sizeOf(llvm::Function &F);
  void forgetFunctions();

  const DefaultAdvice GetDefaultAdvice;
  const std::unique_ptr<InliningDecisions> Decisions;
  const bool IsAccount;
  /// Largest growth of the module, as a factor.
  const float MostGrowth;
  /// Bytes of a callee's variables up to which no option and no recursion keeps
  /// a call from being inlined.
  const uint64_t HarmlessStackBytes;
  /// In instructions; as wide as in MLInlineAdvisor, so that this advisor stops
  /// at the same call.
  const int32_t InitialSize;
  int32_t Size;
  bool Stopped = false;
  /// Of functions in this run of the inliner; other passes change functions.
  llvm::DenseMap<const llvm::Function *, int64_t> Sizes;
  llvm::DenseMap<const llvm::Function *, Refusals> RefusalsOfCallees;
};

} // namespace mlgo

#endif // MLGO_LLVM_DECISIONS_GIVENINLINEADVISOR_H
