// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

/// \file
/// One compile of a module with given inlining decisions, as the search sees
/// it.

#ifndef MLGO_RELEASE_SEARCH_BUILD_H
#define MLGO_RELEASE_SEARCH_BUILD_H

#include "DecisionFormat.h"

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <string_view>

namespace mlgo::search {

/// A call site as a decision file names it: caller, callee, origin, ordinal and
/// occurrence, separated by tabs.
using CallSite = std::string;
/// Whether calls are inlined. Ordered, because the order decides between moves
/// that are worth the same.
using Decisions = std::map<CallSite, bool>;
/// Names of functions, written as in decision files.
using Functions = std::set<std::string>;

/// The symbol of the function in which the call stands, and of the function
/// that it calls.
std::string callerOf(std::string_view Site);
std::string calleeOf(std::string_view Site);
/// The call site without its occurrence: the compiler may ask about one call
/// several times.
std::string placeOf(std::string_view Site);

/// What a compile is asked for.
struct Attempt {
  /// What decides calls that are not in `Given`.
  Otherwise Elsewhere = {};
  Decisions Given = {};
  /// Whether the compile is the one that users get without search. With
  /// decisions that are given, the compiler computes analyses that later passes
  /// then use, so the object may differ a little.
  bool AsReleased = false;

  bool operator==(const Attempt &Other) const {
    return Elsewhere == Other.Elsewhere && Given == Other.Given &&
           AsReleased == Other.AsReleased;
  }
};

/// The compiles that users get without search.
inline const Attempt ReleasedDefault = {{}, {}, true},
                     ReleasedPolicy = {Otherwise::policy(), {}, true};

/// The decision file of an attempt, for a compile of any module.
std::string fileOf(const Attempt &Asked);
/// The attempt in such a file.
Attempt attemptIn(std::string_view File);

/// The decisions in a decision file, whatever module they are for. Lines that
/// are no decision are skipped: the file is the compiler's own.
Decisions decisionsIn(std::string_view File);

/// What came of an attempt, or what is expected of parts of several.
struct Build {
  Decisions Decided;
  /// Function → bytes that count: less than its size for a function that other
  /// objects have too.
  std::map<std::string, double> Sizes;
  /// Of all code in the object.
  uint64_t CodeBytes = 0;

  double total() const;
  double sizeOf(const std::string &Function) const;
};

/// Where functions end up: each function and those into which it is inlined,
/// directly or through others.
class Dependants {
public:
  explicit Dependants(const Build &Of);
  Functions of(const std::string &Function) const;

private:
  std::map<std::string, Functions> InlinedInto;
};

/// Replaces what `Into` says about `Where` by what `From` says: sizes, and
/// decisions about the calls in these functions.
void transplant(Build &Into, const Build &From, const Functions &Where);

} // namespace mlgo::search

#endif // MLGO_RELEASE_SEARCH_BUILD_H
