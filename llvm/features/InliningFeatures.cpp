// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "InliningFeatures.h"

#include "llvm/Analysis/FunctionPropertiesAnalysis.h"
#include "llvm/Analysis/InlineCost.h"
#include "llvm/Analysis/InlineModelFeatureMaps.h"
#include "llvm/Analysis/TargetTransformInfo.h"
#include "llvm/IR/Function.h"

#include <cstdint>
#include <iterator>

using namespace llvm;

namespace {

/// mlgo/problems/inlining_for_size/problem.py has the same names in the same
/// order.
enum Feature : std::size_t {
  IsCalleeLocal,
  CalleeUsesLeft,
  CalleeInstructionCount,
  CostLessCallee,
  FeatureCount
};
constexpr const char *Names[] = {"is_callee_local", "callee_uses_left",
                                 "callee_instruction_count",
                                 "cost_less_callee"};
static_assert(std::size(Names) == FeatureCount);

/// Whether the object holds no copy of `F` once nothing uses it.
bool goesWithItsLastUse(const Function &F) {
  return F.hasLocalLinkage() || F.hasLinkOnceLinkage();
}

} // namespace

std::vector<TensorSpec>
mlgo::withInliningFeatures(const std::vector<TensorSpec> &Features) {
  std::vector<TensorSpec> All = Features;
  for (const char *Name : Names)
    All.push_back(TensorSpec::createSpec<int64_t>(Name, {1}));
  return All;
}

void mlgo::setInliningFeatures(MLModelRunner &Runner, std::size_t First,
                               const CallBase &CB,
                               const MLInlineAdvisor &Advisor,
                               FunctionAnalysisManager &FAM) {
  Function &Callee = *CB.getCalledFunction();
  const int64_t Uses = goesWithItsLastUse(Callee)
                           ? static_cast<int64_t>(Callee.getNumUses())
                           : 0;
  const int64_t Instructions =
      Advisor.getCachedFPI(Callee).TotalInstructionCount;
  int64_t Cost = *Runner.getTensor<int64_t>(FeatureIndex::cost_estimate);
  if (*Runner.getTensor<int64_t>(FeatureIndex::last_call_to_static_bonus))
    Cost += FAM.getResult<TargetIRAnalysis>(Callee)
                .getInliningLastCallToStaticBonus();
  const auto Set = [&](Feature Which, int64_t Value) {
    *Runner.getTensor<int64_t>(First + Which) = Value;
  };
  Set(IsCalleeLocal, Callee.hasLocalLinkage());
  Set(CalleeUsesLeft, Uses);
  Set(CalleeInstructionCount, Instructions);
  Set(CostLessCallee,
      Uses ? Cost - InlineConstants::getInstrCost() * Instructions / Uses
           : Cost);
}
