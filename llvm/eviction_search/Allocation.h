// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

/// \file
/// One attempt to allocate the registers of a function: its decisions and its
/// cost.

#ifndef MLGO_LLVM_EVICTION_SEARCH_ALLOCATION_H
#define MLGO_LLVM_EVICTION_SEARCH_ALLOCATION_H

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "EvictionAnswers.h"

#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/ADT/StringRef.h"

namespace mlgo {

/// How the questions of a function are answered.
struct AllocationPlan {
  /// Where no decision is given: LLVM's heuristic, or the advisor that was
  /// asked for.
  bool ByDefault = false;
  /// Decisions that are given, by the name of the question: registers as
  /// numbers of the target, 0 for none.
  llvm::StringMap<unsigned> Given;
  /// Expected number of questions, of `Questions`, that are answered by chance;
  /// 0: none is.
  unsigned Changes = 0;
  size_t Questions = 0;
  uint64_t Seed = 0;
};

struct Decision {
  std::string Question;
  unsigned Register;
  /// All that could have been chosen, `Register` included.
  std::vector<unsigned> Candidates;
};

/// A function with its registers allocated.
struct Allocation {
  double Cost;
  std::vector<Decision> Decisions;

  bool decidesLike(const Allocation &Other) const;
};

/// Answers by a plan, and notes the decisions.
class PlannedAnswers {
public:
  explicit PlannedAnswers(AllocationPlan Plan)
      : Plan(std::move(Plan)), Random(this->Plan.Seed) {}

  llvm::MCRegister answer(const EvictionQuestion &Question,
                          const EvictionAnswers::Alternatives &By);
  std::vector<Decision> takeDecisions() { return std::move(Decisions); }

private:
  std::optional<llvm::MCRegister> byChance(const EvictionQuestion &Question);
  uint64_t random();

  AllocationPlan Plan;
  uint64_t Random;
  std::vector<Decision> Decisions;
};

/// Text for a pipe. `parsed` is empty if the text is not whole.
std::string serialized(const Allocation &Of);
std::optional<Allocation> parsed(llvm::StringRef Text);

/// What came of a try.
struct Attempt {
  /// This process is the copy that makes the allocation; the search ends at
  /// once.
  bool IsChild;
  /// Empty: the try is lost. It crashes, or LLVM refuses it, on every machine.
  std::optional<Allocation> Made;
};

} // namespace mlgo

#endif // MLGO_LLVM_EVICTION_SEARCH_ALLOCATION_H
