// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

/// \file
/// -mlgo-allocations: the search for better evictions inside the release
/// compilers (README.md). Its pass also writes -mlgo-executed-cost-file.

#include "CostFile.h"
#include "EvictionDecisions.h"
#include "EvictionSearch.h"
#include "ExecutedCost.h"
#include "Options.h"
#include "UsageError.h"

#include "llvm/ADT/StringRef.h"
#include "llvm/Analysis/ProfileSummaryInfo.h"
#include "llvm/CodeGen/MachineBlockFrequencyInfo.h"
#include "llvm/CodeGen/MachineFunction.h"
#include "llvm/CodeGen/MachineFunctionPass.h"
#include "llvm/CodeGen/Passes.h"
#include "llvm/CodeGen/RegAllocEvictionAdvisor.h"
#include "llvm/IR/Module.h"
#include "llvm/Support/CommandLine.h"

#include <algorithm>
#include <memory>
#include <optional>

using namespace llvm;

/// LLVM's function, which makes a pass that does nothing in release compilers.
FunctionPass *createIdlePass() __asm__("__real_" MLGO_CREATE_SCORING_PASS);
/// What LLVM calls in its place. The pass comes when the registers of a
/// function are allocated.
FunctionPass *createScoringPass() __asm__("__wrap_" MLGO_CREATE_SCORING_PASS);

namespace {

/// The weights of executed_cost (mlgo/problems/executed_cost.py).
constexpr double WeightOfReference = 1, WeightOfCalleeSavedRegister = 4;

/// Beyond so many random tries, single decisions are tried the other way.
constexpr unsigned MostNoisyTries = 16;

std::unique_ptr<mlgo::EvictionAnswers> answersOf(Module &M, bool HasPolicy);

/// Whether an option asks for more than one allocation.
bool Searches = false;

void beginSearches(StringRef Option, unsigned Count) {
  if (Count == 0)
    mlgo::endWithUsageError(Twine("-") + Option +
                            ": 0 allocations make no code. Give 1 or more");
  if (Count == 1)
    return;
  Searches = true;
  mlgo::answerEvictionsBy(answersOf);
  mlgo::replaceDefaultEvictionAdvisor();
}

constexpr char InAllModules[] = "mlgo-allocations";
constexpr char InModulesWithProfile[] = "mlgo-allocations-with-profile";

cl::opt<unsigned> Allocations(
    InAllModules, cl::Hidden, cl::init(1), cl::value_desc("N"),
    cl::desc(
        "Allocate the registers of each function up to N times, with different "
        "evictions, and keep the allocation that executes least, by the "
        "frequencies of "
        "its blocks. Default: 1"),
    cl::callback([](const unsigned &Count) {
      beginSearches(InAllModules, Count);
    }));

cl::opt<unsigned> AllocationsWithProfile(
    InModulesWithProfile, cl::Hidden, cl::init(1), cl::value_desc("N"),
    cl::desc("As -mlgo-allocations, which wins, in modules with a profile "
             "alone, and without a policy. For configuration files: it says "
             "nothing where it has no effect, and decisions that are given "
             "win. Default: 1"),
    cl::callback([](const unsigned &Count) {
      beginSearches(InModulesWithProfile, Count);
    }));

/// By default, functions of up to 10,000 questions, some 6,000 lines, have all
/// tries of -mlgo-allocations=18.
cl::opt<uint64_t>
    MostWork("mlgo-allocations-work", cl::Hidden, cl::init(1600000000),
             cl::desc("For each function, -mlgo-allocations makes at most so "
                      "many tries, after those of the "
                      "heuristic and the policy, times the square of the "
                      "evictions that the heuristic is "
                      "asked about. Default: 1600000000"));

/// The option that is about other decisions; empty: none is given.
StringRef decisionFileOption() {
  for (const StringRef Name : {"mlgo-decisions", "mlgo-evictions-taken"})
    if (mlgo::isGiven(Name))
      return Name;
  return "";
}

/// How often the registers of a function of `M` may be allocated.
unsigned allocationsIn(const Module &M) {
  const StringRef Other = decisionFileOption();
  if (Allocations > 1 && !Other.empty())
    mlgo::endWithUsageError(
        "-mlgo-allocations: does not go together with -" + Other +
        ", which is about other decisions. Remove one of the two options");
  if (mlgo::isGiven(InAllModules))
    return Allocations;
  return Other.empty() && M.getProfileSummary(/*IsCS=*/false)
             ? AllocationsWithProfile
             : 1;
}

/// Of the blocks of a function: how often the hottest one ran. Empty: there is
/// no profile.
std::optional<uint64_t> mostRuns(const MachineFunction &MF,
                                 const MachineBlockFrequencyInfo &Frequencies) {
  std::optional<uint64_t> Most;
  for (const MachineBasicBlock &Block : MF)
    if (const auto Runs = Frequencies.getBlockProfileCount(&Block))
      Most = std::max(Most.value_or(0), *Runs);
  return Most;
}

class SearchedAllocations final : public mlgo::EvictionSearch {
public:
  SearchedAllocations(const Module &M, unsigned Count, bool HasPolicy)
      : EvictionSearch("-mlgo-allocations", HasPolicy, /*Seed=*/1), Profile(M) {
    const unsigned Starts = HasPolicy ? 2 : 1;
    const unsigned More = std::max(Count, Starts) - Starts;
    Limits.NoisyTries = std::min(More, MostNoisyTries);
    Limits.Flips = More - Limits.NoisyTries;
    Limits.MostWork = MostWork;
  }

private:
  std::optional<mlgo::SearchLimits>
  limitsOf(const MachineFunction &MF,
           const MachineBlockFrequencyInfo &Frequencies) const override {
    const auto Runs = mostRuns(MF, Frequencies);
    if (Runs && *Runs == 0)
      return std::nullopt;
    if (!Runs || !Profile.hasProfileSummary() || Profile.isHotCount(*Runs))
      return Limits;
    // Where little time is spent, the better one of heuristic and policy will
    // do.
    return asksPolicy() ? std::optional(mlgo::SearchLimits()) : std::nullopt;
  }

  const ProfileSummaryInfo Profile;
  mlgo::SearchLimits Limits;
};

std::unique_ptr<mlgo::EvictionAnswers> answersOf(Module &M, bool HasPolicy) {
  const unsigned Count = allocationsIn(M);
  if (Count == 1)
    return mlgo::EvictionDecisions::of(M);
  // With a profile the policy was measured to make programs worse.
  return std::make_unique<SearchedAllocations>(
      M, Count, HasPolicy && mlgo::isGiven(InAllModules));
}

/// Tells the search what an allocated function costs, and writes it to the file
/// of -mlgo-executed-cost-file.
class AllocationCost final : public MachineFunctionPass {
public:
  static char ID;
  AllocationCost() : MachineFunctionPass(ID) {}

private:
  StringRef getPassName() const override {
    return "Cost of the register allocation";
  }

  void getAnalysisUsage(AnalysisUsage &AU) const override {
    AU.setPreservesAll();
    if (Searches)
      AU.addRequired<RegAllocEvictionAdvisorAnalysisLegacy>();
    AU.addRequired<MachineBlockFrequencyInfoWrapperPass>();
    MachineFunctionPass::getAnalysisUsage(AU);
  }

  bool runOnMachineFunction(MachineFunction &MF) override {
    const auto Cost = [&] {
      return mlgo::executedCost(
          MF, getAnalysis<MachineBlockFrequencyInfoWrapperPass>().getMBFI());
    };
    // A copy of the compiler that tries an allocation ends here.
    if (Searches)
      getAnalysis<RegAllocEvictionAdvisorAnalysisLegacy>().logRewardIfNeeded(
          MF, [&] { return weighted(Cost()); });
    if (mlgo::writesCostFile())
      Costs.add(MF, Cost());
    return false;
  }

  bool doFinalization(Module &) override {
    if (mlgo::writesCostFile())
      Costs.write();
    return false;
  }

  static float weighted(const mlgo::ExecutedCost &Executed) {
    return static_cast<float>(
        Executed.Instructions + WeightOfReference * Executed.MemoryReferences +
        WeightOfCalleeSavedRegister * Executed.CalleeSavedRegisters);
  }

  mlgo::CostFile Costs;
};

} // namespace

char AllocationCost::ID = 0;

FunctionPass *createScoringPass() {
  return Searches || mlgo::writesCostFile() ? new AllocationCost()
                                            : createIdlePass();
}
