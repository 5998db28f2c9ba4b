// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

/// \file
/// The eviction advisor that gets its answers from EvictionAnswers. LLVM
/// creates it in place of its own one for release mode, which BUILD.bazel
/// compiles under another name.

#include "EvictionAnswers.h"
#include "EvictionDecisions.h"

#include "AllocationOrder.h"
#include "DecisionFormat.h"
#include "Options.h"
#include "PolicyTarget.h"
#include "RegAllocEvictModel.h"
#include "RegAllocGreedy.h"
#include "Unmeasured.h"

#include "llvm/ADT/SmallPtrSet.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/CodeGen/LiveInterval.h"
#include "llvm/CodeGen/LiveRegMatrix.h"
#include "llvm/CodeGen/MachineBlockFrequencyInfo.h"
#include "llvm/CodeGen/MachineFunction.h"
#include "llvm/CodeGen/MachineLoopInfo.h"
#include "llvm/CodeGen/MachineRegisterInfo.h"
#include "llvm/CodeGen/RegisterClassInfo.h"
#include "llvm/CodeGen/TargetRegisterInfo.h"
#include "llvm/IR/Module.h"
#include "llvm/Support/CommandLine.h"
#include "llvm/Support/xxhash.h"
#include "llvm/Target/TargetMachine.h"

#include <algorithm>
#include <optional>
#include <utility>

using namespace llvm;

namespace llvm {
extern cl::opt<unsigned> EvictInterferenceCutoff;
/// LLVM's createReleaseModeAdvisorAnalysisLegacy, renamed in the compile of
/// MLRegAllocEvictAdvisor.cpp.
RegAllocEvictionAdvisorAnalysisLegacy *createPolicyAdvisorAnalysisLegacy();
/// As before, createReleaseModeAdvisorProvider.
RegAllocEvictionAdvisorProvider *createPolicyAdvisorProvider(LLVMContext &);
} // namespace llvm

namespace {

using Analysis = RegAllocEvictionAdvisorAnalysisLegacy;

/// MaxInterferences of llvm/lib/CodeGen/MLRegAllocEvictAdvisor.cpp.
constexpr size_t ModelPositions = 32;

/// An option of ours asks for answers, and no other option for a mode.
bool IsAnswered = false;
bool ReplacesDefault = false;

mlgo::EvictionAnswersFactory &answersFactory() {
  static mlgo::EvictionAnswersFactory Factory = [](Module &M, bool) {
    return mlgo::EvictionDecisions::of(M);
  };
  return Factory;
}

class GivenEvictionAdvisor final : public RegAllocEvictionAdvisor {
public:
  GivenEvictionAdvisor(const MachineFunction &MF, const RAGreedy &RA,
                       std::unique_ptr<RegAllocEvictionAdvisor> Asked,
                       mlgo::EvictionAnswers &Answers,
                       mlgo::EvictionNames &Names)
      : RegAllocEvictionAdvisor(MF, RA),
        Heuristic(std::make_unique<DefaultEvictionAdvisor>(MF, RA)),
        Asked(std::move(Asked)), Answers(Answers), Names(Names) {}

private:
  const RegAllocEvictionAdvisor &asked() const {
    return Asked ? *Asked : *Heuristic;
  }

  bool canEvictHintInterference(
      const LiveInterval &VirtReg, MCRegister PhysReg,
      const SmallVirtRegSet &FixedRegisters) const override {
    return asked().canEvictHintInterference(VirtReg, PhysReg, FixedRegisters);
  }

  MCRegister tryFindEvictionCandidate(
      const LiveInterval &VirtReg, const AllocationOrder &Order,
      uint8_t CostPerUseLimit,
      const SmallVirtRegSet &FixedRegisters) const override;
  std::optional<mlgo::EvictionCandidate>
  candidate(const LiveInterval &VirtReg, MCRegister PhysReg,
            const SmallVirtRegSet &FixedRegisters) const;
  uint64_t questionHash(const LiveInterval &VirtReg,
                        ArrayRef<mlgo::EvictionCandidate> Candidates,
                        uint8_t CostPerUseLimit) const;

  /// Through the base class, where its functions are public.
  const std::unique_ptr<const RegAllocEvictionAdvisor> Heuristic;
  const std::unique_ptr<const RegAllocEvictionAdvisor> Asked;
  mlgo::EvictionAnswers &Answers;
  mlgo::EvictionNames &Names;
};

/// The conditions under which LLVM's advisor for policies offers a register
/// (loadInterferenceFeatures in llvm/lib/CodeGen/MLRegAllocEvictAdvisor.cpp),
/// without its cap on evictions: an answer that is given counts once.
std::optional<mlgo::EvictionCandidate>
GivenEvictionAdvisor::candidate(const LiveInterval &VirtReg, MCRegister PhysReg,
                                const SmallVirtRegSet &FixedRegisters) const {
  if (Matrix->checkInterference(VirtReg, PhysReg) > LiveRegMatrix::IK_VirtReg)
    return std::nullopt;
  const auto &Extra = RA.getExtraInfo();
  const unsigned Cascade = Extra.getCascadeOrCurrentNext(VirtReg.reg());
  const auto RegistersFor = [this](const LiveInterval &Range) {
    return RegClassInfo.getNumAllocatableRegs(MRI->getRegClass(Range.reg()));
  };
  mlgo::EvictionCandidate Found = {PhysReg, 0, 0};
  for (const MCRegUnit Unit : TRI->regunits(PhysReg)) {
    const auto &Ranges =
        Matrix->query(VirtReg, Unit).interferingVRegs(EvictInterferenceCutoff);
    if (Ranges.size() >= EvictInterferenceCutoff)
      return std::nullopt;
    for (const LiveInterval *const Range : Ranges) {
      if (FixedRegisters.count(Range->reg()) ||
          Extra.getStage(*Range) == RS_Done)
        return std::nullopt;
      const bool Urgent = !VirtReg.isSpillable() &&
                          (Range->isSpillable() ||
                           RegistersFor(VirtReg) < RegistersFor(*Range));
      if (Cascade <= Extra.getCascade(Range->reg()) && !Urgent)
        return std::nullopt;
      ++Found.Ranges;
      Found.Weight = std::max(Found.Weight, Range->weight());
    }
  }
  return Found;
}

/// Weights stay out: they change with every frequency in the function.
uint64_t
GivenEvictionAdvisor::questionHash(const LiveInterval &VirtReg,
                                   ArrayRef<mlgo::EvictionCandidate> Candidates,
                                   uint8_t CostPerUseLimit) const {
  std::string Text = TRI->getRegClassName(MRI->getRegClass(VirtReg.reg()));
  const auto Add = [&Text](uint64_t Number) {
    (Text += ' ') += utostr(Number);
  };
  Add(VirtReg.getSize());
  Add(VirtReg.isSpillable());
  Add(RA.getExtraInfo().getStage(VirtReg));
  Add(CostPerUseLimit);
  for (const mlgo::EvictionCandidate &Candidate : Candidates) {
    (Text += ' ') += Candidate.Register ? TRI->getName(Candidate.Register) : "";
    Add(Candidate.Ranges);
  }
  return xxh3_64bits(Text);
}

MCRegister GivenEvictionAdvisor::tryFindEvictionCandidate(
    const LiveInterval &VirtReg, const AllocationOrder &Order,
    uint8_t CostPerUseLimit, const SmallVirtRegSet &FixedRegisters) const {
  const auto Default = [&] {
    return Heuristic->tryFindEvictionCandidate(VirtReg, Order, CostPerUseLimit,
                                               FixedRegisters);
  };
  const auto AskedFor = [&] {
    return asked().tryFindEvictionCandidate(VirtReg, Order, CostPerUseLimit,
                                            FixedRegisters);
  };
  const std::optional<unsigned> OrderLimit =
      getOrderLimit(VirtReg, Order, CostPerUseLimit);
  if (!OrderLimit)
    return MCRegister::NoRegister;
  SmallVector<mlgo::EvictionCandidate, 33> Candidates;
  for (auto I = Order.begin(), E = Order.getOrderLimitEnd(*OrderLimit); I != E;
       ++I) {
    const MCRegister PhysReg = *I;
    // Some targets name a hint several times.
    const bool Known = any_of(Candidates, [&](const auto &Earlier) {
      return Earlier.Register == PhysReg;
    });
    if (Known || !canAllocatePhysReg(CostPerUseLimit, PhysReg))
      continue;
    if (const auto Found = candidate(VirtReg, PhysReg, FixedRegisters))
      Candidates.push_back(*Found);
  }
  if (Candidates.empty())
    return AskedFor();
  // A range that cannot be spilled must find a register.
  if (VirtReg.isSpillable() || CostPerUseLimit != static_cast<uint8_t>(~0u))
    Candidates.push_back({MCRegister(), 1, VirtReg.weight()});
  return Answers.answer(
      {Names.nextNameOf(questionHash(VirtReg, Candidates, CostPerUseLimit)),
       Candidates},
      {Default, AskedFor});
}

class GivenEvictionProvider final : public RegAllocEvictionAdvisorProvider {
public:
  /// \param Asked null for the heuristic.
  /// \param Answers null if what was asked for answers all questions.
  GivenEvictionProvider(LLVMContext &Context,
                        RegAllocEvictionAdvisorProvider *Asked,
                        mlgo::EvictionAnswers *Answers)
      : RegAllocEvictionAdvisorProvider(AdvisorMode::Release, Context),
        Asked(Asked), Answers(Answers) {}

  std::unique_ptr<RegAllocEvictionAdvisor>
  getAdvisor(const MachineFunction &MF, const RAGreedy &RA,
             MachineBlockFrequencyInfo *Frequencies,
             MachineLoopInfo *Loops) override {
    if (Answers && Function != MF.getFunctionNumber()) {
      Function = MF.getFunctionNumber();
      Names = mlgo::EvictionNames(MF.getName());
      Answers->beginFunction(MF, *Frequencies);
    }
    std::unique_ptr<RegAllocEvictionAdvisor> Advisor;
    if (Asked && (!Answers || Answers->asksPolicy()) &&
        !mlgo::yieldsToHeuristic(RegAllocEvictModel::slot(),
                                 *MF.getFunction().getParent())) {
      warnIfUnmeasured(MF);
      // The first advisor creates the policy.
      const mlgo::PolicyTarget Target(MF.getTarget().getTargetTriple());
      Advisor = Asked->getAdvisor(MF, RA, Frequencies, Loops);
    }
    if (Answers)
      return std::make_unique<GivenEvictionAdvisor>(MF, RA, std::move(Advisor),
                                                    *Answers, Names);
    return Advisor ? std::move(Advisor)
                   : std::make_unique<DefaultEvictionAdvisor>(MF, RA);
  }

private:
  void warnIfUnmeasured(const MachineFunction &MF) {
    const mlgo::PolicySlot &Slot = RegAllocEvictModel::slot();
    mlgo::warnIfTargetIsUnmeasured(Slot, MF.getTarget().getTargetTriple());
    const MachineRegisterInfo &Registers = MF.getRegInfo();
    const auto IsFree = [&](MCPhysReg Register) {
      return !Registers.isReserved(Register);
    };
    for (unsigned Number = 0; Number < Registers.getNumVirtRegs(); ++Number) {
      const TargetRegisterClass *const Class =
          Registers.getRegClassOrNull(Register::index2VirtReg(Number));
      if (Class && KnownClasses.insert(Class).second &&
          Class->getNumRegs() > ModelPositions)
        mlgo::warnIfPositionsAreMissing(Slot, count_if(*Class, IsFree),
                                        ModelPositions);
    }
  }

  SmallPtrSet<const TargetRegisterClass *, 16> KnownClasses;
  RegAllocEvictionAdvisorProvider *const Asked;
  mlgo::EvictionAnswers *const Answers;
  /// By number: a function need not have a name.
  std::optional<unsigned> Function;
  mlgo::EvictionNames Names{""};
};

/// For the new pass manager, which does not support answers.
class PolicyOfTargetProvider final : public RegAllocEvictionAdvisorProvider {
public:
  explicit PolicyOfTargetProvider(LLVMContext &Context)
      : RegAllocEvictionAdvisorProvider(AdvisorMode::Release, Context),
        Policy(createPolicyAdvisorProvider(Context)),
        Targeted(Context, Policy.get(), nullptr) {}

  std::unique_ptr<RegAllocEvictionAdvisor>
  getAdvisor(const MachineFunction &MF, const RAGreedy &RA,
             MachineBlockFrequencyInfo *Frequencies,
             MachineLoopInfo *Loops) override {
    return Targeted.getAdvisor(MF, RA, Frequencies, Loops);
  }

private:
  const std::unique_ptr<RegAllocEvictionAdvisorProvider> Policy;
  GivenEvictionProvider Targeted;
};

class GivenEvictionAnalysis final : public Analysis {
public:
  /// \param Asked null for the heuristic.
  explicit GivenEvictionAnalysis(std::unique_ptr<Analysis> Asked)
      : Analysis(Asked ? Asked->getAdvisorMode() : AdvisorMode::Release),
        Asked(std::move(Asked)) {}

private:
  bool doInitialization(Module &M) override {
    if (Asked)
      Asked->doInitialization(M);
    if (IsAnswered)
      Answers = answersFactory()(M, /*HasPolicy=*/Asked != nullptr);
    Provider = std::make_unique<GivenEvictionProvider>(
        M.getContext(), Asked ? &Asked->getProvider() : nullptr, Answers.get());
    return false;
  }

  bool doFinalization(Module &) override {
    if (Answers)
      Answers->endModule();
    return false;
  }

  void logRewardIfNeeded(const MachineFunction &MF,
                         function_ref<float()> GetReward) override {
    if (Answers)
      Answers->endFunction(MF, GetReward);
    if (Asked)
      Asked->logRewardIfNeeded(MF, GetReward);
  }

  void getAnalysisUsage(AnalysisUsage &AU) const override {
    AU.addRequired<MachineBlockFrequencyInfoWrapperPass>();
    AU.addRequired<MachineLoopInfoWrapperPass>();
    Analysis::getAnalysisUsage(AU);
  }

  const std::unique_ptr<Analysis> Asked;
  std::unique_ptr<mlgo::EvictionAnswers> Answers;
};

} // namespace

bool mlgo::EvictionQuestion::offers(MCRegister Register) const {
  return any_of(Candidates, [&](const EvictionCandidate &Candidate) {
    return Candidate.Register == Register;
  });
}

mlgo::EvictionNames::EvictionNames(StringRef Function)
    : Function(escaped(Function)) {}

std::string mlgo::EvictionNames::nextNameOf(uint64_t Look) {
  return Function + '\t' + utostr(Questions[Look]++) + '\t' +
         utohexstr(Look, /*LowerCase=*/true, /*Width=*/16);
}

void mlgo::answerEvictionsBy(EvictionAnswersFactory Factory) {
  answersFactory() = std::move(Factory);
}

void mlgo::replaceDefaultEvictionAdvisor() {
  cl::Option *const Found = findOption("regalloc-enable-advisor");
  if (IsAnswered || !Found)
    return;
  IsAnswered = true;
  auto &Chosen = optionOf<Analysis::AdvisorMode>(*Found);
  const auto Replace = [&Chosen](const Analysis::AdvisorMode &Wanted) {
    ReplacesDefault = Wanted == Analysis::AdvisorMode::Default;
    if (ReplacesDefault)
      Chosen.setValue(Analysis::AdvisorMode::Release); // An assignment would
                                                       // call this again.
  };
  Replace(Chosen);
  Chosen.setCallback(Replace);
}

bool mlgo::evictionsAreAnswered() { return IsAnswered; }

Analysis *mlgo::withEvictionAnswers(std::unique_ptr<Analysis> Asked) {
  return new GivenEvictionAnalysis(std::move(Asked));
}

Analysis *llvm::createReleaseModeAdvisorAnalysisLegacy() {
  if (ReplacesDefault)
    return mlgo::withEvictionAnswers(nullptr);
  std::unique_ptr<Analysis> Policy(createPolicyAdvisorAnalysisLegacy());
  // Without a policy LLVM reports an error.
  return Policy ? mlgo::withEvictionAnswers(std::move(Policy)) : nullptr;
}

RegAllocEvictionAdvisorProvider *
llvm::createReleaseModeAdvisorProvider(LLVMContext &Context) {
  return new PolicyOfTargetProvider(Context);
}
