// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

/// \file
/// The questions that LLVM's greedy register allocator asks an eviction
/// advisor; an interface that answers them instead of a heuristic or a policy.

#ifndef MLGO_LLVM_DECISIONS_EVICTIONANSWERS_H
#define MLGO_LLVM_DECISIONS_EVICTIONANSWERS_H

#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/CodeGen/RegAllocEvictionAdvisor.h"
#include "llvm/MC/MCRegister.h"

namespace llvm {
class MachineBlockFrequencyInfo;
class MachineFunction;
class Module;
} // namespace llvm

namespace mlgo {

/// A register whose live ranges may be evicted.
struct EvictionCandidate {
  /// NoRegister: nothing is evicted, so the range that asks is split or
  /// spilled. Its weight is that range's.
  llvm::MCRegister Register;
  /// Number and largest spill weight of the live ranges in the register.
  /// NoRegister: 1 and that of the asking range.
  unsigned Ranges;
  float Weight;
};

/// A live range needs a register.
struct EvictionQuestion {
  /// Function, ordinal and look, separated by tabs (EvictionNames).
  std::string Name;
  /// Never empty. The order is the target's order of allocation, NoRegister
  /// last.
  llvm::ArrayRef<EvictionCandidate> Candidates;

  bool offers(llvm::MCRegister Register) const;
};

/// Names the questions of a function:
///
///   function  in which the registers are allocated
///   ordinal   how many questions of this look came before in the function
///   look      16 hexadecimal digits: a hash of the asking range and the
///   candidates
///
/// No field depends on code elsewhere in the file, and an edit keeps the names
/// of questions that look the same.
class EvictionNames {
public:
  explicit EvictionNames(llvm::StringRef Function);
  std::string nextNameOf(uint64_t Look);

private:
  std::string Function;
  llvm::DenseMap<uint64_t, unsigned> Questions;
};

/// Answers the questions of one module.
class EvictionAnswers {
public:
  virtual ~EvictionAnswers() = default;

  /// What LLVM's heuristic answers, and what the advisor that was asked for
  /// answers: the heuristic or a policy.
  struct Alternatives {
    llvm::function_ref<llvm::MCRegister()> Default;
    llvm::function_ref<llvm::MCRegister()> Asked;
  };

  /// Whether the advisor that was asked for takes part. Otherwise the heuristic
  /// is in its place.
  virtual bool asksPolicy() const { return true; }
  /// The allocation of a function begins. A target may allocate the registers
  /// of a function in several rounds.
  virtual void beginFunction(const llvm::MachineFunction &,
                             const llvm::MachineBlockFrequencyInfo &) {}
  /// Returns one of the candidates, or one of the alternatives' answers.
  virtual llvm::MCRegister answer(const EvictionQuestion &Question,
                                  const Alternatives &By) = 0;
  /// The function is allocated. Called by development programs alone. Cost:
  /// lower is better.
  virtual void endFunction(const llvm::MachineFunction &,
                           llvm::function_ref<float()> /*Cost*/) {}
  virtual void endModule() {}
};

/// What answers in a module; null: the advisor that was asked for. `HasPolicy`:
/// a policy was asked for.
using EvictionAnswersFactory = std::function<std::unique_ptr<EvictionAnswers>(
    llvm::Module &, bool HasPolicy)>;

/// Makes `Factory` the source of answers in place of the options of decision
/// files. For programs that search.
void answerEvictionsBy(EvictionAnswersFactory Factory);

/// LLVM creates its advisor for release mode from now on unless the user asks
/// for another mode, because the default one cannot be told decisions. Has no
/// effect in a program that does not allocate registers.
void replaceDefaultEvictionAdvisor();

/// Whether the above was called: some option asks for answers of our own.
bool evictionsAreAnswered();

/// `Asked`, with answers of our own where there are some. Null: the default
/// heuristic.
llvm::RegAllocEvictionAdvisorAnalysisLegacy *withEvictionAnswers(
    std::unique_ptr<llvm::RegAllocEvictionAdvisorAnalysisLegacy> Asked);

} // namespace mlgo

#endif // MLGO_LLVM_DECISIONS_EVICTIONANSWERS_H
