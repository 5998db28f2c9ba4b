// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

/// \file
/// Searches better evictions in each function of a module, while it is compiled
/// (README.md).

#ifndef MLGO_LLVM_EVICTION_SEARCH_EVICTIONSEARCH_H
#define MLGO_LLVM_EVICTION_SEARCH_EVICTIONSEARCH_H

#include "Allocation.h"
#include "EvictionAnswers.h"
#include "FunctionSearch.h"

#include "llvm/ADT/StringMap.h"

#include <cstdint>
#include <optional>
#include <string>

namespace mlgo {

class EvictionSearch : public EvictionAnswers {
public:
  /// \param Option for errors, with its dash.
  /// \param HasPolicy a policy was asked for.
  /// \param Seed of chance.
  EvictionSearch(llvm::StringRef Option, bool HasPolicy, uint64_t Seed)
      : Option(Option), HasPolicy(HasPolicy), Seed(Seed) {}

  bool asksPolicy() const final { return HasPolicy; }
  void beginFunction(const llvm::MachineFunction &MF,
                     const llvm::MachineBlockFrequencyInfo &Frequencies) final;
  llvm::MCRegister answer(const EvictionQuestion &Question,
                          const Alternatives &By) final;
  void endFunction(const llvm::MachineFunction &MF,
                   llvm::function_ref<float()> Cost) final;
  void endModule() final;

private:
  /// Empty: the function is not worth a search. The advisor that was asked for
  /// decides.
  virtual std::optional<SearchLimits>
  limitsOf(const llvm::MachineFunction &MF,
           const llvm::MachineBlockFrequencyInfo &Frequencies) const = 0;
  /// Decisions to start from, as in AllocationPlan::Given.
  virtual llvm::StringMap<unsigned> givenTo(const llvm::MachineFunction &) {
    return {};
  }
  virtual void found(const llvm::MachineFunction &, const FunctionResult &) {}
  virtual void moduleIsSearched() {}

  void search(const llvm::MachineFunction &MF, const SearchLimits &Limits);
  void requireEnd();

  const llvm::StringRef Option;
  const bool HasPolicy;
  const uint64_t Seed;
  bool IsChild = false;
  /// Whether the first try of the function was lost.
  bool IsFirstLost = false;
  /// By number: a function need not have a name.
  std::optional<unsigned> Function;
  std::string Name;
  const llvm::MachineFunction *Current = nullptr;
  /// Until the first question about the function is asked: most functions have
  /// none.
  std::optional<SearchLimits> Waiting;
  PlannedAnswers Answers{AllocationPlan()};
  /// What the function must cost with the answers above; empty: it is not
  /// searched.
  std::optional<double> Expected;
};

} // namespace mlgo

#endif // MLGO_LLVM_EVICTION_SEARCH_EVICTIONSEARCH_H
