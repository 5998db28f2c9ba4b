// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "ComparedInlineAdvisors.h"

#include "llvm/IR/Function.h"
#include "llvm/IR/InstrTypes.h"
#include "llvm/IR/Module.h"

#include <optional>
#include <utility>

using namespace llvm;

namespace {

using Advice = std::unique_ptr<InlineAdvice>;

mlgo::AtDifference Chooser;

class ComparedInlineAdvisors final : public InlineAdvisor {
public:
  ComparedInlineAdvisors(Module &M, FunctionAnalysisManager &FAM,
                         std::unique_ptr<InlineAdvisor> Default,
                         std::unique_ptr<InlineAdvisor> Policy,
                         mlgo::AtDifference Choose)
      : InlineAdvisor(M, FAM), Default(std::move(Default)),
        Policy(std::move(Policy)), Choose(std::move(Choose)),
        HasProfile(M.getProfileSummary(/*IsCS=*/false)) {}

  void onPassEntry(LazyCallGraph::SCC *SCC) override {
    // The default keeps no state.
    if (Followed != mlgo::Adviser::Default)
      Policy->onPassEntry(SCC);
  }
  void onPassExit(LazyCallGraph::SCC *SCC) override {
    if (Followed != mlgo::Adviser::Default)
      Policy->onPassExit(SCC);
  }
  void print(raw_ostream &OS) const override { Policy->print(OS); }

private:
  Advice getAdviceImpl(CallBase &CB) override {
    return advice(CB, /*MandatoryOnly=*/false);
  }
  Advice getMandatoryAdvice(CallBase &CB, bool) override {
    return advice(CB, /*MandatoryOnly=*/true);
  }

  Advice advice(CallBase &CB, bool MandatoryOnly) {
    if (!Followed && !canAskBoth(CB))
      Followed = Choose();
    if (Followed)
      return followed().getAdvice(CB, MandatoryOnly);
    Advice ByDefault = Default->getAdvice(CB, MandatoryOnly),
           ByPolicy = Policy->getAdvice(CB, MandatoryOnly);
    if (ByDefault->isInliningRecommended() != ByPolicy->isInliningRecommended())
      Followed = Choose();
    if (Followed == mlgo::Adviser::Default)
      std::swap(ByDefault, ByPolicy);
    // Of equal advice, the policy's keeps its account of the module.
    ByDefault->recordUnattemptedInlining();
    return ByPolicy;
  }

  bool canAskBoth(const CallBase &CB) const {
    return !HasProfile && CB.getCaller()->hasMinSize();
  }

  InlineAdvisor &followed() {
    return Followed == mlgo::Adviser::Policy ? *Policy : *Default;
  }

  const std::unique_ptr<InlineAdvisor> Default, Policy;
  const mlgo::AtDifference Choose;
  const bool HasProfile;
  /// Empty while both agree.
  std::optional<mlgo::Adviser> Followed;
};

} // namespace

void mlgo::compareInliners(AtDifference Choose) { Chooser = std::move(Choose); }

const mlgo::AtDifference &mlgo::comparedInliners() { return Chooser; }

std::unique_ptr<InlineAdvisor>
mlgo::comparedInlineAdvisors(Module &M, FunctionAnalysisManager &FAM,
                             std::unique_ptr<InlineAdvisor> Default,
                             std::unique_ptr<InlineAdvisor> Policy,
                             AtDifference Choose) {
  return std::make_unique<ComparedInlineAdvisors>(
      M, FAM, std::move(Default), std::move(Policy), std::move(Choose));
}
