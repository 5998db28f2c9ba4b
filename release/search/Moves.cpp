// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Moves.h"

#include <algorithm>
#include <map>
#include <tuple>
#include <utility>

namespace mlgo::search {
namespace {

/// A call with its arguments, on x86-64.
constexpr double CallBytes = 10;
/// Moves that are expected to cost more are not tried.
constexpr double HighestGrowth = 60;
/// Bytes by which a move of all calls may be worse than one of a single call
/// and is tried before.
constexpr double WholeCalleeFirst = 1000;

/// Disjoint sets of functions.
class Parts {
public:
  void join(const Functions &Together) {
    for (const std::string &Function : Together)
      Parent[root(Function)] = root(*Together.begin());
  }

  std::map<std::string, Functions> all() {
    std::map<std::string, Functions> Found;
    for (const auto &[Function, _] : Parent)
      Found[root(Function)].insert(Function);
    return Found;
  }

private:
  std::string root(std::string Function) {
    while (true) {
      std::string &Above = Parent.try_emplace(Function, Function).first->second;
      if (Above == Function)
        return Function;
      Above = Parent[Above];
      Function = Above;
    }
  }

  std::map<std::string, std::string> Parent;
};

double sizeIn(const Build &Of, const Functions &Where) {
  double Sum = 0;
  for (const std::string &Function : Where)
    Sum += Of.sizeOf(Function);
  return Sum;
}

/// Calls that differ in `One` from `Other`, with those that only one of them
/// has.
void addDifferences(const Build &One, const Build &Other,
                    std::set<CallSite> &Found) {
  for (const auto &[Site, Inlined] : One.Decided) {
    const auto There = Other.Decided.find(Site);
    if (There == Other.Decided.end() || There->second != Inlined)
      Found.insert(Site);
  }
}

/// A call, each time that the compiler asks about it.
struct Place {
  std::string Caller;
  Decisions Asked;
};

/// Places by callee, and in it by name.
using Calls = std::map<std::string, std::map<std::string, Place>>;

Calls callsIn(const Build &Of) {
  Calls Found;
  for (const auto &[Site, Inlined] : Of.Decided) {
    Place &There = Found[calleeOf(Site)][placeOf(Site)];
    There.Caller = callerOf(Site);
    There.Asked[Site] = Inlined;
  }
  return Found;
}

/// Adds the opposite of each decision `From` about a place.
void flip(Move &With, const Place &At, bool From, const Dependants &Inlined) {
  bool Any = false;
  for (const auto &[Site, Decided] : At.Asked) {
    if (Decided != From)
      continue;
    With.Flips[Site] = !From;
    Any = true;
  }
  if (Any)
    With.Touched.merge(Inlined.of(At.Caller));
}

bool isInlined(const Place &At) {
  return std::any_of(At.Asked.begin(), At.Asked.end(),
                     [](const auto &Decision) { return Decision.second; });
}

struct RankedMove {
  /// Expected growth in bytes.
  double Growth;
  Move Change;
};

/// All calls of `Callee` that are decided as `From`, the other way.
void addWholeCallee(const std::string &Callee,
                    const std::map<std::string, Place> &Places, bool From,
                    double Growth, const Dependants &Inlined,
                    std::vector<RankedMove> &Found) {
  Move Change = {(From ? "all out\t" : "all in\t") + Callee, {}, {Callee}};
  for (const auto &[_, At] : Places)
    flip(Change, At, From, Inlined);
  if (Change.Flips.size() > 1)
    Found.push_back({Growth, std::move(Change)});
}

} // namespace

Build betterParts(const Build &Current, const Build &Other) {
  std::set<CallSite> Different;
  addDifferences(Current, Other, Different);
  addDifferences(Other, Current, Different);
  const Dependants InCurrent(Current), InOther(Other);
  Parts Connected;
  for (const CallSite &Site : Different) {
    Functions Touched = InCurrent.of(callerOf(Site));
    Touched.merge(InOther.of(callerOf(Site)));
    Touched.insert(calleeOf(Site));
    Connected.join(Touched);
  }
  Functions Better;
  for (auto &[_, Part] : Connected.all())
    if (sizeIn(Other, Part) < sizeIn(Current, Part))
      Better.merge(Part);
  Build Mixed = Current;
  transplant(Mixed, Other, Better);
  return Mixed;
}

std::vector<Move> movesFrom(const Build &Current) {
  const Dependants Inlined(Current);
  std::vector<RankedMove> Ranked;
  for (const auto &[Callee, Places] : callsIn(Current)) {
    const double Size = Current.sizeOf(Callee);
    const auto Calls =
        std::count_if(Places.begin(), Places.end(),
                      [](const auto &At) { return !isInlined(At.second); });
    // The body once for each call, in place of it once and the calls.
    const double AllIn = (Calls - 1) * Size - Calls * CallBytes;
    if (Places.size() > 1) {
      if (AllIn <= HighestGrowth)
        addWholeCallee(Callee, Places, false, AllIn - WholeCalleeFirst, Inlined,
                       Ranked);
      addWholeCallee(Callee, Places, true, -WholeCalleeFirst, Inlined, Ranked);
    }
    for (const auto &[Name, At] : Places) {
      const bool WasInlined = isInlined(At);
      const double Growth = WasInlined   ? 0
                            : Calls == 1 ? AllIn
                                         : Size - CallBytes;
      if (Growth > HighestGrowth)
        continue;
      Move Change = {"call\t" + Name, {}, {Callee}};
      flip(Change, At, WasInlined, Inlined);
      Ranked.push_back({Growth, std::move(Change)});
    }
  }
  std::sort(Ranked.begin(), Ranked.end(),
            [](const RankedMove &One, const RankedMove &Other) {
              return std::tie(One.Growth, One.Change.Name) <
                     std::tie(Other.Growth, Other.Change.Name);
            });
  std::vector<Move> Moves;
  for (RankedMove &Next : Ranked)
    Moves.push_back(std::move(Next.Change));
  return Moves;
}

std::vector<Move> independent(const std::vector<Move> &Moves) {
  std::vector<Move> Chosen;
  Functions Touched;
  for (const Move &Next : Moves) {
    const auto IsTouched = [&](const std::string &Function) {
      return Touched.count(Function) > 0;
    };
    if (std::any_of(Next.Touched.begin(), Next.Touched.end(), IsTouched))
      continue;
    Touched.insert(Next.Touched.begin(), Next.Touched.end());
    Chosen.push_back(Next);
  }
  return Chosen;
}

double effect(const Move &Of, const Build &Before, const Build &After) {
  return sizeIn(After, Of.Touched) - sizeIn(Before, Of.Touched);
}

} // namespace mlgo::search
