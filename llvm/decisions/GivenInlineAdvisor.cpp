// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "GivenInlineAdvisor.h"
#include "InstructionCount.h"
#include "Options.h"

#include "llvm/ADT/DepthFirstIterator.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Analysis/AssumptionCache.h"
#include "llvm/Analysis/InlineCost.h"
#include "llvm/Analysis/OptimizationRemarkEmitter.h"
#include "llvm/Analysis/TargetTransformInfo.h"
#include "llvm/IR/CFG.h"
#include "llvm/IR/DataLayout.h"
#include "llvm/IR/Dominators.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/Instructions.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/IR/Module.h"
#include "llvm/Support/CommandLine.h"

#include <optional>
#include <utility>

using namespace llvm;

namespace {

constexpr char PassName[] = "mlgo-decisions";

/// How much the module may grow, as a factor.
float mostGrowth() {
  return mlgo::optionNamed<float>("ml-advisor-size-increase-threshold");
}

/// LLVM refuses a call into a recursive caller above a number of bytes, and
/// into any caller above another one (llvm/lib/Analysis/InlineCost.cpp). The
/// first is this one and the second none, unless options say otherwise.
uint64_t harmlessStackBytes() {
  for (const StringRef Name :
       {"recursive-inline-max-stacksize", "inline-max-stacksize"})
    if (mlgo::optionNamed(Name).getNumOccurrences() > 0)
      return 0;
  return InlineConstants::TotalAllocaSizeRecursiveCaller;
}

} // namespace

namespace mlgo {

/// Updates the size bookkeeping after inlining.
class GivenInlineAdvisor::Followed final : public InlineAdvice {
public:
  Followed(GivenInlineAdvisor &Advisor, CallBase &CB,
           OptimizationRemarkEmitter &ORE, bool Inline)
      : InlineAdvice(&Advisor, CB, ORE, Inline), Following(Advisor) {
    if (!Inline)
      return;
    CallerBefore = Advisor.sizeOf(*Caller);
    CalleeBefore = Advisor.sizeOf(*Callee);
    Growth.emplace(CB);
  }

private:
  void recordInliningImpl() override {
    recordSuccess(/*CalleeWasDeleted=*/false);
  }
  void recordInliningWithCalleeDeletedImpl() override {
    recordSuccess(/*CalleeWasDeleted=*/true);
  }

  void recordSuccess(bool CalleeWasDeleted) {
    emitInlinedInto(ORE, DLoc, Block, *Callee, *Caller, /*IsMandatory=*/false);
    const int64_t Grown =
        Growth->finish(Following.FAM.getResult<DominatorTreeAnalysis>(*Caller));
    Following.Sizes[Caller] = CallerBefore + Grown;
    Following.RefusalsOfCallees.erase(Caller);
    Following.Size += Grown - (CalleeWasDeleted ? CalleeBefore : 0);
    Following.Stopped =
        Following.Size > Following.MostGrowth * Following.InitialSize;
  }

  GivenInlineAdvisor &Following;
  /// Set if inlining is recommended. In instructions.
  int64_t CallerBefore = 0;
  int64_t CalleeBefore = 0;
  std::optional<InliningGrowth> Growth;
};

GivenInlineAdvisor::GivenInlineAdvisor(
    Module &M, FunctionAnalysisManager &FAM, DefaultAdvice GetDefaultAdvice,
    std::unique_ptr<InliningDecisions> Decisions)
    : InlineAdvisor(M, FAM), GetDefaultAdvice(std::move(GetDefaultAdvice)),
      Decisions(std::move(Decisions)),
      IsAccount(this->Decisions->keepsAccountAlone()), MostGrowth(mostGrowth()),
      HarmlessStackBytes(harmlessStackBytes()),
      InitialSize(IsAccount ? 0 : sizeOfModule()), Size(InitialSize) {}

GivenInlineAdvisor::~GivenInlineAdvisor() = default;

int64_t GivenInlineAdvisor::sizeOfModule() {
  int64_t Sum = 0;
  for (Function &F : M)
    if (!F.isDeclaration())
      Sum += instructionsOf(F, FAM.getResult<DominatorTreeAnalysis>(F));
  return Sum;
}

int64_t GivenInlineAdvisor::sizeOf(Function &F) {
  const auto [Known, IsNew] = Sizes.try_emplace(&F);
  if (IsNew)
    Known->second = instructionsOf(F, FAM.getResult<DominatorTreeAnalysis>(F));
  return Known->second;
}

void GivenInlineAdvisor::forgetFunctions() {
  Sizes.clear();
  RefusalsOfCallees.clear();
}

bool GivenInlineAdvisor::isReachable(CallBase &CB) const {
  if (IsAccount)
    return is_contained(depth_first(&CB.getCaller()->getEntryBlock()),
                        CB.getParent());
  return FAM.getResult<DominatorTreeAnalysis>(*CB.getCaller())
      .isReachableFromEntry(CB.getParent());
}

/// LLVM's cost analysis looks at the blocks that are live in a call and refuses
/// it for some instructions. Without such instructions in any block no call is
/// refused. The list is that of CallAnalyzer in
/// llvm/lib/Analysis/InlineCost.cpp.
GivenInlineAdvisor::Refusals GivenInlineAdvisor::refusalsOf(const Function &F) {
  Refusals Found;
  const DataLayout &Layout = F.getParent()->getDataLayout();
  for (const BasicBlock &BB : F)
    Found.Possible |=
        BB.hasAddressTaken() || isa<IndirectBrInst>(BB.getTerminator());
  for (const Instruction &I : instructions(F)) {
    if (const auto *Variable = dyn_cast<AllocaInst>(&I)) {
      Found.Possible |=
          Variable->isArrayAllocation() || !Variable->isStaticAlloca();
      Found.StackBytes += Layout.getTypeAllocSize(Variable->getAllocatedType())
                              .getKnownMinValue();
    } else if (const auto *Call = dyn_cast<CallBase>(&I)) {
      const Function *const Callee = Call->getCalledFunction();
      Found.HasIndirectCall |= !Callee;
      Found.Possible |= Callee == &F ||
                        Call->hasFnAttr(Attribute::ReturnsTwice) ||
                        Call->hasFnAttr(Attribute::NoDuplicate);
      const Intrinsic::ID ID =
          Callee ? Callee->getIntrinsicID() : Intrinsic::not_intrinsic;
      Found.Possible |= ID == Intrinsic::icall_branch_funnel ||
                        ID == Intrinsic::localescape ||
                        ID == Intrinsic::vastart;
    }
  }
  return Found;
}

bool GivenInlineAdvisor::canBeInlined(CallBase &CB, bool Mandatory) {
  Function &Callee = *CB.getCalledFunction();
  const auto [Known, IsNew] = RefusalsOfCallees.try_emplace(&Callee);
  if (IsNew)
    Known->second = refusalsOf(Callee);
  const Refusals &Found = Known->second;
  const bool HasOwnLimit = CB.getCaller()->hasFnAttribute(
      InlineConstants::MaxInlineStackSizeAttributeName);
  const bool FitsStack =
      Found.StackBytes <= (HasOwnLimit ? 0 : HarmlessStackBytes);
  // An indirect call may turn out to be recursive if the function's address is
  // known there.
  if (!Found.Possible && FitsStack &&
      !(Found.HasIndirectCall && Callee.hasAddressTaken()))
    return true;
  auto &TTI = FAM.getResult<TargetIRAnalysis>(Callee);
  const auto GetAssumptions = [&](Function &F) -> AssumptionCache & {
    return FAM.getResult<AssumptionAnalysis>(F);
  };
  return (Mandatory || getInliningCostEstimate(CB, TTI, GetAssumptions)) &&
         getInliningCostFeatures(CB, TTI, GetAssumptions);
}

std::unique_ptr<InlineAdvice> GivenInlineAdvisor::followed(CallBase &CB,
                                                           bool Inline) {
  OptimizationRemarkEmitter &ORE = getCallerORE(CB);
  if (IsAccount)
    return std::make_unique<InlineAdvice>(this, CB, ORE, Inline);
  // The size cannot be followed in an unreachable block.
  if (Stopped || !isReachable(CB))
    return std::make_unique<InlineAdvice>(this, CB, ORE, Inline);
  return std::make_unique<Followed>(*this, CB, ORE, Inline);
}

std::unique_ptr<InlineAdvice>
GivenInlineAdvisor::getMandatoryAdvice(CallBase &CB, bool Advice) {
  return IsAccount ? InlineAdvisor::getMandatoryAdvice(CB, Advice)
                   : followed(CB, Advice && isReachable(CB));
}

std::unique_ptr<InlineAdvice> GivenInlineAdvisor::byDefault(CallBase &CB) {
  OptimizationRemarkEmitter &ORE = getCallerORE(CB);
  const bool Inline = GetDefaultAdvice(CB);
  // The default's inlining is not followed, so what is known of a callee may be
  // out of date.
  RefusalsOfCallees.clear();
  if (CB.getCaller() != CB.getCalledFunction() &&
      getMandatoryKind(CB, FAM, ORE) == MandatoryInliningKind::NotMandatory &&
      isReachable(CB) && canBeInlined(CB, /*Mandatory=*/false))
    Decisions->decide(CB, {[Inline] { return Inline; }, nullptr, nullptr}, ORE);
  return std::make_unique<InlineAdvice>(this, CB, ORE, Inline);
}

std::unique_ptr<InlineAdvice> GivenInlineAdvisor::getAdviceImpl(CallBase &CB) {
  if (IsAccount)
    return byDefault(CB);
  OptimizationRemarkEmitter &ORE = getCallerORE(CB);
  const auto Kept = [&] {
    return std::make_unique<InlineAdvice>(this, CB, ORE, false);
  };
  if (!isReachable(CB))
    return Kept();
  const MandatoryInliningKind Kind = getMandatoryKind(CB, FAM, ORE);
  if (Kind == MandatoryInliningKind::Never ||
      CB.getCaller() == CB.getCalledFunction())
    return Kept();
  const bool Mandatory = Kind == MandatoryInliningKind::Always;
  if (Stopped) {
    ORE.emit([&] {
      return OptimizationRemarkMissed(PassName, "Stopped", &CB)
             << "not asked, because the module has grown too much";
    });
    return std::make_unique<InlineAdvice>(this, CB, ORE, Mandatory);
  }
  if (!canBeInlined(CB, Mandatory))
    return Kept();
  return std::make_unique<Followed>(*this, CB, ORE,
                                    Mandatory || decide(CB, ORE));
}

bool GivenInlineAdvisor::decide(CallBase &CB, OptimizationRemarkEmitter &ORE) {
  const auto Cost = [&]() -> int64_t {
    auto &TTI = FAM.getResult<TargetIRAnalysis>(*CB.getCalledFunction());
    return *getInliningCostEstimate(
        CB, TTI, [&](Function &F) -> AssumptionCache & {
          return FAM.getResult<AssumptionAnalysis>(F);
        });
  };
  const auto NoPolicy = []() -> bool {
    llvm_unreachable("decisions that ask a policy need another advisor");
  };
  return Decisions
      ->decide(CB, {[&] { return GetDefaultAdvice(CB); }, NoPolicy, Cost}, ORE)
      .Inline;
}

} // namespace mlgo
