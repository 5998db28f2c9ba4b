// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

/// \file
/// The search for better eviction decisions in one function. It needs nothing
/// of a compiler but tries.

#ifndef MLGO_LLVM_EVICTION_SEARCH_FUNCTIONSEARCH_H
#define MLGO_LLVM_EVICTION_SEARCH_FUNCTIONSEARCH_H

#include "Allocation.h"

#include <cstdint>
#include <functional>
#include <utility>
#include <vector>

namespace mlgo {

/// Limits of the search in a function, besides the allocations from which it
/// starts.
struct SearchLimits {
  unsigned NoisyTries = 0;
  unsigned Flips = 0;
  /// Further flips by the square root of the default's cost, and at most so
  /// many: costly functions gain most.
  double FlipsPerRootCost = 0;
  unsigned MoreFlips = 0;
  /// A try costs the square of the default's questions: an allocation takes
  /// longer than in proportion to them. All tries but the starts may cost so
  /// much.
  uint64_t MostWork = UINT64_MAX;
};

struct FunctionResult {
  /// Empty: no try succeeded. The cost of the best one is never above those of
  /// the starts.
  std::optional<Allocation> Default, Asked, Given, Best;
  unsigned Tries = 0;
  /// The number of the try and the cost whenever it fell.
  std::vector<std::pair<unsigned, double>> Curve;
};

/// Makes an allocation. The search ends at once where it returns in a child.
using TryAllocation = std::function<Attempt(const AllocationPlan &)>;

/// \param Given decisions of an earlier search.
/// \param Seed of chance.
FunctionResult searchFunction(const TryAllocation &Try,
                              const SearchLimits &Limits, bool HasPolicy,
                              const llvm::StringMap<unsigned> &Given,
                              uint64_t Seed);

/// The plan that makes `Made` again.
AllocationPlan repeating(const Allocation &Made);

} // namespace mlgo

#endif // MLGO_LLVM_EVICTION_SEARCH_FUNCTIONSEARCH_H
