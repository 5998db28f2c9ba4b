// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

/// \file
/// Changes to a build that are worth a try.

#ifndef MLGO_RELEASE_SEARCH_MOVES_H
#define MLGO_RELEASE_SEARCH_MOVES_H

#include "Build.h"

#include <string>
#include <vector>

namespace mlgo::search {

struct Move {
  /// The same change has the same name in every round.
  std::string Name;
  Decisions Flips;
  /// Functions whose code may change.
  Functions Touched;
};

/// Combines two builds per connected part of the call graph: what is expected
/// of a compile with the decisions of both. Functions belong together where a
/// call is decided differently and one may be part of the other.
Build betterParts(const Build &Current, const Build &Other);

/// Moves that may help, the most promising ones first: all calls of one
/// function inlined or none of them, then single calls.
std::vector<Move> movesFrom(const Build &Current);

/// The moves, in their order, that touch nothing which one before them touches:
/// one compile tells the effect of each.
std::vector<Move> independent(const std::vector<Move> &Moves);

/// The bytes by which the functions that `Of` touches differ in `After`.
double effect(const Move &Of, const Build &Before, const Build &After);

} // namespace mlgo::search

#endif // MLGO_RELEASE_SEARCH_MOVES_H
