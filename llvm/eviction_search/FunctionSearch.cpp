// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "FunctionSearch.h"

#include "llvm/ADT/StringSet.h"
#include "llvm/Support/xxhash.h"

#include <algorithm>
#include <cmath>
#include <tuple>

using namespace llvm;

namespace mlgo {
namespace {

/// Noisy tries change 1, 2, 4 or 8 decisions, on average.
constexpr unsigned ScaleCount = 4;

class Search {
public:
  Search(const TryAllocation &Try, const SearchLimits &Limits, uint64_t Seed)
      : Try(Try), Limits(Limits), Seed(Seed) {}

  FunctionResult run(bool HasPolicy, const StringMap<unsigned> &Given);

private:
  std::optional<Allocation> start(const AllocationPlan &Plan);
  /// Whether the try is the best one yet.
  bool improves(AllocationPlan Plan);
  void tryNoise();
  void tryFlips();
  unsigned flipLimit() const;

  const TryAllocation &Try;
  const SearchLimits Limits;
  const uint64_t Seed;
  FunctionResult Found;
  size_t Questions = 0;
  /// Tries that the limit of work allows.
  uint64_t Affordable = 0;
  bool IsChild = false;
};

std::optional<Allocation> Search::start(const AllocationPlan &Plan) {
  ++Found.Tries;
  Attempt Tried = Try(Plan);
  std::optional<Allocation> Made = std::move(Tried.Made);
  IsChild = Tried.IsChild;
  if (Made && (!Found.Best || Made->Cost < Found.Best->Cost)) {
    Found.Best = Made;
    Found.Curve.emplace_back(Found.Tries, Made->Cost);
  }
  return Made;
}

bool Search::improves(AllocationPlan Plan) {
  Plan.Questions = Questions;
  --Affordable;
  const double Before = Found.Best->Cost;
  start(Plan);
  return Found.Best->Cost < Before;
}

void Search::tryNoise() {
  for (unsigned Number = 0;
       Number < Limits.NoisyTries && Affordable && !IsChild; ++Number) {
    AllocationPlan Plan;
    // Half of the tries stay near the best allocation, half near that of the
    // advisor.
    if (Number / ScaleCount % 2)
      Plan = repeating(*Found.Best);
    Plan.Changes = 1u << Number % ScaleCount;
    Plan.Seed = Seed + Number * 0x9e3779b97f4a7c15;
    improves(std::move(Plan));
  }
}

unsigned Search::flipLimit() const {
  // Square roots are exact, so every machine tries the same.
  const double More =
      Limits.FlipsPerRootCost * std::sqrt(std::max(Found.Default->Cost, 0.0));
  return Limits.Flips + (More < Limits.MoreFlips ? static_cast<unsigned>(More)
                                                 : Limits.MoreFlips);
}

/// Each single decision the other way; what follows keeps to the best
/// allocation where it can.
void Search::tryFlips() {
  StringSet<> Tried;
  bool Improved = false;
  for (uint64_t Left = std::min<uint64_t>(flipLimit(), Affordable); Left;) {
    struct Flip {
      uint64_t Order;
      std::string Question;
      unsigned Register;
    };
    std::vector<Flip> Flips;
    for (const Decision &One : Found.Best->Decisions)
      for (const unsigned Register : One.Candidates) {
        const std::string Key = One.Question + ' ' + std::to_string(Register);
        if (Register != One.Register && !Tried.contains(Key))
          Flips.push_back({xxh3_64bits(Key) ^ Seed, One.Question, Register});
      }
    if (Flips.empty() && !Improved)
      return;
    // All were tried once. Other questions may be asked since, and what did not
    // help before may help now.
    if (Flips.empty()) {
      Tried.clear();
      Improved = false;
      continue;
    }
    std::sort(Flips.begin(), Flips.end(), [](const Flip &A, const Flip &B) {
      return std::tie(A.Order, A.Question, A.Register) <
             std::tie(B.Order, B.Question, B.Register);
    });
    for (const Flip &One : Flips) {
      if (!Left || IsChild)
        return;
      --Left;
      Tried.insert(One.Question + ' ' + std::to_string(One.Register));
      AllocationPlan Plan = repeating(*Found.Best);
      Plan.Given[One.Question] = One.Register;
      if (improves(std::move(Plan))) {
        Improved = true;
        break;
      }
    }
  }
}

FunctionResult Search::run(bool HasPolicy, const StringMap<unsigned> &Given) {
  AllocationPlan Plan;
  Plan.ByDefault = true;
  Found.Default = start(Plan);
  if (Found.Default)
    Questions = Found.Default->Decisions.size();
  if (!Questions)
    return std::move(Found);
  Plan.ByDefault = false;
  if (HasPolicy)
    Found.Asked = start(Plan);
  if (!Given.empty() && !IsChild) {
    Plan.Given = Given;
    Found.Given = start(Plan);
  }
  Affordable = Limits.MostWork / Questions / Questions;
  if (!IsChild)
    tryNoise();
  if (!IsChild)
    tryFlips();
  return std::move(Found);
}

} // namespace

AllocationPlan repeating(const Allocation &Made) {
  AllocationPlan Plan;
  for (const Decision &One : Made.Decisions)
    Plan.Given[One.Question] = One.Register;
  return Plan;
}

FunctionResult searchFunction(const TryAllocation &Try,
                              const SearchLimits &Limits, bool HasPolicy,
                              const StringMap<unsigned> &Given, uint64_t Seed) {
  return Search(Try, Limits, Seed).run(HasPolicy, Given);
}

} // namespace mlgo
