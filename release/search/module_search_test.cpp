// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

/// \file
/// The search for better decisions in one module, with a toy compiler.

#include "Build.h"
#include "Check.h"
#include "ModuleSearch.h"
#include "Moves.h"
#include "ToyCompiler.h"

#include <algorithm>
#include <random>

using mlgo::Otherwise;
using namespace mlgo::search;
using namespace mlgo::search::testing;

namespace {

constexpr Otherwise Default = {}, Policy = Otherwise::policy();

/// Two parts. In the first all copies of `tiny` cost more than one; in the
/// second `big` vanishes only if all its calls are inlined.
std::vector<ToyFunction> twoParts() {
  return {
      {"tiny", 14},
      {"a", 20, {"tiny", "tiny", "tiny"}, false},
      {"b", 20, {"tiny", "tiny"}, false},
      {"big", 40, {}, true, 25},
      {"c", 30, {"big"}, false},
      {"d", 30, {"big"}, false},
  };
}

std::vector<ToyFunction> randomProgram(std::mt19937 &Random) {
  std::vector<ToyFunction> Program;
  for (int Number = 0; Number < 24; ++Number) {
    ToyFunction F = {"f" + std::to_string(Number),
                     static_cast<int>(5 + Random() % 40)};
    for (unsigned Calls = Number ? Random() % 4 : 0; Calls > 0; --Calls)
      F.Calls.push_back("f" + std::to_string(Random() % Number));
    F.IsLocal = Random() % 3 > 0;
    F.Saving = Random() % F.Bytes;
    Program.push_back(F);
  }
  return Program;
}

/// Compiles with a toy compiler, and counts.
struct Counted {
  const ToyCompiler &Toy;
  unsigned Compiles = 0;
  /// No attempt with this policy succeeds.
  std::optional<Otherwise> Broken = std::nullopt;

  Found search(unsigned Tries, bool HasPolicy = true) {
    Compiles = 0;
    const Compile Run = [&](const Attempt &Asked,
                            bool) -> std::optional<Build> {
      ++Compiles;
      return Asked.Elsewhere == Broken ? std::nullopt
                                       : std::optional<Build>(Toy.build(Asked));
    };
    return searchModule(Run, Tries, HasPolicy);
  }
};

void partsOfACallSitesName() {
  const CallSite Site = "%01caller\tcallee\torigin\t2\t0";
  CHECK(callerOf(Site) == "caller");
  CHECK(calleeOf(Site) == "callee");
  CHECK(placeOf(Site) == "%01caller\tcallee\torigin\t2");
}

void filesKeepDecisions() {
  const Attempt Asked = {Otherwise::costBelow(-15),
                         {{"a\tb\ta\t0\t0", true}, {"a\tc\ta\t0\t0", false}}};
  const std::string File = fileOf(Asked);
  CHECK(File == "mlgo-decisions 1\nmodule\t*\notherwise cost-below "
                "-15\ninline\ta\tb\ta\t0\t0\nkeep\ta\tc\ta\t0\t0\n");
  CHECK(decisionsIn(File) == Asked.Given);
  CHECK(attemptIn(File).Elsewhere == Asked.Elsewhere &&
        attemptIn(File).Given == Asked.Given);
  CHECK(decisionsIn("").empty());
  CHECK(decisionsIn("keep").empty());
}

void eachPartIsTakenFromTheBetterBuild() {
  const ToyCompiler Toy(twoParts());
  const Build Never = Toy.build({Otherwise::costBelow(-100), {}}),
              Always = Toy.build({Otherwise::costBelow(100), {}});
  CHECK(Never.sizeOf("a") + Never.sizeOf("b") + Never.sizeOf("tiny") <
        Always.sizeOf("a") + Always.sizeOf("b"));
  CHECK(Never.sizeOf("c") + Never.sizeOf("d") + Never.sizeOf("big") >
        Always.sizeOf("c") + Always.sizeOf("d"));
  const Build Mixed = betterParts(Never, Always);
  CHECK(Mixed.total() < Never.total() && Mixed.total() < Always.total());
  // What is expected is what a compile gives.
  const Build Compiled = Toy.build({Default, Mixed.Decided});
  CHECK(Compiled.Decided == Mixed.Decided);
  CHECK(Compiled.Sizes == Mixed.Sizes);
}

void independentMovesTouchNothingInCommon() {
  const Move One = {"one", {}, {"a", "b"}}, Two = {"two", {}, {"b", "c"}},
             Three = {"three", {}, {"c"}};
  const std::vector<Move> Chosen = independent({One, Two, Three});
  CHECK(Chosen.size() == 2 && Chosen[0].Name == "one" &&
        Chosen[1].Name == "three");
}

void aFunctionVanishesIfAllItsCallsAreInlined() {
  const ToyCompiler Toy({{"big", 60, {}, true, 45},
                         {"c", 30, {"big"}, false},
                         {"d", 30, {"big"}, false}});
  const Build Start = Toy.build({Otherwise::costBelow(-100), {}});
  const std::vector<Move> Moves = movesFrom(Start);
  CHECK(!Moves.empty() && Moves[0].Name == "all in\tbig");
  Decisions Flipped = Start.Decided;
  for (const auto &[Site, Inline] : Moves[0].Flips)
    Flipped[Site] = Inline;
  const Build After = Toy.build({Default, Flipped});
  CHECK(effect(Moves[0], Start, After) == After.total() - Start.total());
  CHECK(After.total() < Start.total());
}

void theSearchFindsBothParts() {
  const ToyCompiler Toy(twoParts());
  Counted Searching = {Toy};
  const auto Found = Searching.search(8).Best;
  CHECK(Found.has_value());
  const int WithTinyCalled = 14 + 20 + 3 * CallBytes + 20 + 2 * CallBytes,
            WithBigInlined = 2 * (30 + 40 - 25);
  CHECK(Toy.build(*Found).CodeBytes ==
        static_cast<uint64_t>(WithTinyCalled + WithBigInlined));
}

void oneCompileOrNoDecisionIsNoSearch() {
  const ToyCompiler Toy(twoParts()),
      Nothing({{"a", 10, {}, false}, {"b", 10, {}, false}});
  Counted Searching = {Toy}, Idle = {Nothing};
  const Found One = Searching.search(1);
  CHECK(!One.Best && !One.Lost && Searching.Compiles == 0);
  const Found Undecided = Idle.search(8);
  CHECK(Undecided.Best && Undecided.Best->AsReleased && Idle.Compiles == 1);
}

void failingCompilesAreLostTries() {
  const ToyCompiler Toy(twoParts());
  Counted Searching = {Toy};
  Searching.Broken = Policy;
  const auto Found = Searching.search(8).Best;
  CHECK(Found && Toy.build(*Found).CodeBytes < Toy.build({Default}).CodeBytes);
  // The default's compile is the one that the others are compared with.
  Searching.Broken = Default;
  const mlgo::search::Found Lost = Searching.search(8);
  CHECK(!Lost.Best && Lost.Lost && Lost.Lost->AsReleased &&
        Searching.Compiles == 1);
  CHECK(Searching.search(2).Lost->AsReleased);
}

void randomProgramsDoNotGrow() {
  std::mt19937 Random(20);
  unsigned SmallerThanAnyPolicy = 0;
  for (int Number = 0; Number < 30; ++Number) {
    const ToyCompiler Toy(randomProgram(Random));
    Counted Searching = {Toy};
    const uint64_t Least =
        std::min(Toy.build({Default}).CodeBytes, Toy.build({Policy}).CodeBytes);
    for (const unsigned Tries : {2u, 3u, 8u, 16u}) {
      const auto Found = Searching.search(Tries).Best;
      CHECK(Searching.Compiles <= Tries);
      if (!Found)
        continue;
      const uint64_t Bytes = Toy.build(*Found).CodeBytes;
      CHECK(Bytes <= Least);
      SmallerThanAnyPolicy += Tries == 16 && Bytes < Least;
    }
  }
  CHECK(SmallerThanAnyPolicy > 20);
}

void theSameSearchFindsTheSame() {
  std::mt19937 Random(20);
  const ToyCompiler Toy(randomProgram(Random));
  Counted Searching = {Toy};
  const auto Found = Searching.search(16).Best,
             Again = Searching.search(16).Best;
  CHECK(Found && Again && Again->Elsewhere == Found->Elsewhere &&
        Again->Given == Found->Given);
}

void theFirstAndTheLastObjectAreKept() {
  const ToyCompiler Toy(twoParts());
  for (const unsigned Tries : {2u, 3u, 8u}) {
    std::vector<bool> Kept;
    const Compile Run = [&](const Attempt &Asked,
                            bool KeepsObject) -> std::optional<Build> {
      Kept.push_back(KeepsObject);
      return Toy.build(Asked);
    };
    searchModule(Run, Tries, true);
    // A search that ends early keeps the first one alone.
    CHECK(Kept.front() &&
          std::count(Kept.begin(), Kept.end(), true) == (Kept.back() ? 2 : 1));
    CHECK(Kept.back() == (Kept.size() == Tries));
  }
}

void aCopyEndsItsSearchAtOnce() {
  const ToyCompiler Toy(twoParts());
  unsigned Compiles = 0;
  const Compile Run = [&](const Attempt &Asked, bool) {
    return ++Compiles < 4 ? Outcome(Toy.build(Asked)) : Outcome::endOfSearch();
  };
  searchModule(Run, 16, true);
  CHECK(Compiles == 4);
}

/// Sizes count less for functions that other objects have too, so the smaller
/// total may be of the larger object.
void moreCodeIsNotTakenForFewerBytesThatCount() {
  const Compile Run = [](const Attempt &Asked, bool) -> std::optional<Build> {
    const bool IsDefault = Asked.Elsewhere == Default && Asked.Given.empty();
    return Build{{{"a\tb\ta\t0\t0", IsDefault}},
                 {{"a", IsDefault ? 100 : 50}},
                 IsDefault ? 100u : 101u};
  };
  const auto Found = searchModule(Run, 8, false).Best;
  CHECK(Found && Found->Elsewhere == Default && Found->AsReleased);
}

/// The compiles that keep an account of their decisions may be smaller than the
/// released ones, which are what counts.
void theReleasedCompilesAreTheLimit() {
  for (const Otherwise &Smaller : {Default, Policy}) {
    const Compile Run = [&](const Attempt &Asked,
                            bool) -> std::optional<Build> {
      const unsigned Released = Asked.Elsewhere == Smaller ? 90 : 95;
      const unsigned Bytes =
          Asked.AsReleased
              ? Released
              : 100 - (Asked.Elsewhere.Is == Otherwise::Rule::CostBelow);
      return Build{{{"a\tb\ta\t0\t0", Asked.Elsewhere == Default}},
                   {{"a", Bytes}},
                   Bytes};
    };
    const auto Found = searchModule(Run, 8, true).Best;
    CHECK(Found && Found->Elsewhere == Smaller && Found->AsReleased);
  }
}

/// Code in the object first, and at equal code the bytes that count.
void twoCompilesAreComparedAsTwoTries() {
  for (const unsigned Code : {99u, 100u, 101u})
    for (const double Counted : {79.0, 79.4, 79.5, 80.0, 81.0}) {
      const Decisions Some = {{"a\tb\ta\t0\t0", true}};
      const Build ByDefault = {Some, {{"a", 80}}, 100},
                  ByPolicy = {Some, {{"a", Counted}}, Code};
      const Compile Run = [&](const Attempt &Asked, bool) {
        return Asked == ReleasedDefault ? ByDefault : ByPolicy;
      };
      const auto Found = searchModule(Run, 2, /*HasPolicy=*/true).Best;
      const bool IsSmaller = Code < 100 || (Code == 100 && Counted <= 79.5);
      CHECK((*Found == ReleasedPolicy) == IsSmaller);
      CHECK(isPolicySmaller(ByDefault, ByPolicy) == IsSmaller);
    }
}

} // namespace

int main() {
  partsOfACallSitesName();
  filesKeepDecisions();
  eachPartIsTakenFromTheBetterBuild();
  independentMovesTouchNothingInCommon();
  aFunctionVanishesIfAllItsCallsAreInlined();
  theSearchFindsBothParts();
  oneCompileOrNoDecisionIsNoSearch();
  failingCompilesAreLostTries();
  randomProgramsDoNotGrow();
  theSameSearchFindsTheSame();
  theFirstAndTheLastObjectAreKept();
  aCopyEndsItsSearchAtOnce();
  moreCodeIsNotTakenForFewerBytesThatCount();
  theReleasedCompilesAreTheLimit();
  twoCompilesAreComparedAsTwoTries();
}
