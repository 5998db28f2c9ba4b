// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "ModuleSearch.h"

#include "Moves.h"

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace mlgo::search {
namespace {

/// Less is no gain: functions that other objects have too count by a share of
/// their bytes.
constexpr double LeastGain = 0.5;

constexpr Otherwise Default = {};

struct Compiled {
  Attempt Asked;
  Build Result;
};

/// What is tried after the default and the embedded policy: one limit of cost
/// for all calls, the most useful ones first. Negative limits leave out what
/// pays in speed only.
constexpr int64_t CostLimits[] = {15, -15, 30, INT32_MIN, 60};
/// Of so many tries one is for a limit. Moves, which get the others, gain more
/// from a try.
constexpr unsigned TriesOfALimit = 4;

class Search {
public:
  Search(const Compile &Run, unsigned Tries, bool HasPolicy)
      : Run(Run), Left(Tries), Limits(Tries / TriesOfALimit),
        HasPolicy(HasPolicy) {}

  Found run() {
    if (!tryNext(ReleasedDefault))
      return {std::nullopt, ReleasedDefault};
    if (!Tried.back().Result.Decided.empty())
      explore();
    return {best().Asked};
  }

private:
  /// Fills `Tried`, which has the default already.
  void explore() {
    if (HasPolicy)
      tryNext(ReleasedPolicy);
    for (size_t Number = 0;
         Number < std::min(Limits, std::size(CostLimits)) && Left > 1; ++Number)
      tryNext({Otherwise::costBelow(CostLimits[Number])});
    if (Left == 0)
      return;
    Build Expected = mix();
    while (Left > 0 && improve(Expected))
      ;
  }

  /// What is expected of the best parts of all whole policies. The compile that
  /// tries the first moves tells whether it is so.
  Build mix() {
    std::vector<std::pair<double, const Build *>> BySize;
    for (size_t Number = 0; Number < Tried.size(); ++Number)
      BySize.emplace_back(Tried[Number].Result.total(), &Tried[Number].Result);
    // The vector keeps equal ones in the order of their addresses, which is
    // that in `Tried`.
    std::sort(BySize.begin(), BySize.end());
    Build Expected = *BySize.front().second;
    for (const auto &[_, Other] : BySize)
      Expected = betterParts(Expected, *Other);
    Unconfirmed = Expected.Decided != BySize.front().second->Decided;
    return Expected;
  }

  /// Tries independent moves from `Expected` in one compile, and applies to it
  /// those that help. The next compile confirms them; the last one that is left
  /// does nothing else. Returns: whether there was something to try.
  bool improve(Build &Expected) {
    std::vector<Move> Moves =
        Left == 1 && Unconfirmed ? std::vector<Move>() : untried(Expected);
    if (Moves.empty() && !Unconfirmed)
      return false;
    Build Asked = Expected;
    for (const Move &Change : Moves)
      for (const auto &[Site, Inline] : Change.Flips)
        Asked.Decided[Site] = Inline;
    // Otherwise what was put together before stays unconfirmed: the compile has
    // changes of its own.
    if (Moves.empty())
      Unconfirmed = false;
    if (!tryNext(fixed(Asked)))
      return true;
    const Build After = Tried.back().Result;
    for (const Move &Change : Moves) {
      if (effect(Change, Expected, After) > -LeastGain)
        continue;
      transplant(Expected, After, Change.Touched);
      Unconfirmed = true;
    }
    return true;
  }

  std::vector<Move> untried(const Build &From) {
    std::vector<Move> Moves;
    for (Move &Change : movesFrom(From))
      if (!Names.count(Change.Name))
        Moves.push_back(std::move(Change));
    Moves = independent(Moves);
    for (const Move &Change : Moves)
      Names.insert(Change.Name);
    return Moves;
  }

  static Attempt fixed(const Build &Of) { return {Default, Of.Decided}; }

  /// The compile is then the last of `Tried`. Returns: whether it succeeded.
  bool tryNext(Attempt Asked) {
    --Left;
    Outcome Made = Run(Asked, /*KeepsObject=*/Tried.empty() || Left == 0);
    if (Made.EndsSearch)
      Left = 0;
    if (!Made.Made)
      return false;
    if (Asked.AsReleased)
      MostCodeBytes = std::min(MostCodeBytes, Made.Made->CodeBytes);
    Tried.push_back({std::move(Asked), std::move(*Made.Made)});
    return true;
  }

  /// The first of the smallest that have at most so much code as the released
  /// ones.
  const Compiled &best() const {
    const Compiled *Best = nullptr;
    for (const Compiled &One : Tried)
      if (One.Result.CodeBytes <= MostCodeBytes &&
          (!Best || One.Result.total() <= Best->Result.total() - LeastGain))
        Best = &One;
    return *Best;
  }

  const Compile &Run;
  unsigned Left;
  const size_t Limits;
  const bool HasPolicy;
  std::vector<Compiled> Tried;
  uint64_t MostCodeBytes = UINT64_MAX;
  /// Of moves that were tried.
  std::set<std::string> Names;
  /// Whether parts or moves were put together that no compile has had together.
  bool Unconfirmed = false;
};

} // namespace

Found searchModule(const Compile &Run, unsigned Tries, bool HasPolicy) {
  return Tries > 1 ? Search(Run, Tries, HasPolicy).run() : Found();
}

bool isPolicySmaller(const Build &Default, const Build &Policy) {
  if (Policy.CodeBytes != Default.CodeBytes)
    return Policy.CodeBytes < Default.CodeBytes;
  return Policy.total() <= Default.total() - LeastGain;
}

} // namespace mlgo::search
