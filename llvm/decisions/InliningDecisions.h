// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

/// \file
/// Inlining decisions that were taken before the compile, such as those of a
/// search, for the advisors of all our compilers (README.md).

#ifndef MLGO_LLVM_DECISIONS_INLININGDECISIONS_H
#define MLGO_LLVM_DECISIONS_INLININGDECISIONS_H

#include <cstdint>
#include <memory>
#include <string>

#include "CallSiteNames.h"
#include "DecisionFile.h"

#include "llvm/ADT/STLFunctionalExtras.h"

namespace llvm {
class CallBase;
class Module;
class OptimizationRemarkEmitter;
} // namespace llvm

namespace mlgo {

/// Uses `Content`, in the format of a decision file, in place of the file of
/// -mlgo-decisions, until it is withdrawn. For programs that compile several
/// times. No thread may be compiling.
void giveDecisions(std::string Content);
void withdrawDecisions();

/// Lets the default heuristic decide in LLVM's release mode too, where nothing
/// is given, whatever -enable-ml-inliner says until then.
void replaceDefaultInliner();

/// Appends the lines of what compiles decide to `Lines`, in place of
/// -mlgo-decisions-taken. Null: no longer.
void takeDecisionsInto(std::string *Lines);

/// The file of -mlgo-decisions or the content in memory; null if there is none.
/// Ends the program with one error if the file cannot be read.
std::shared_ptr<const DecisionFile> givenDecisions();

/// True if one of our options or giveDecisions asks for an advisor and
/// -enable-ml-inliner names no other than the default. LLVM then creates its
/// advisor for release mode, because the default one cannot be told decisions.
bool decisionsReplaceDefault();

/// The decisions for one module.
class InliningDecisions {
public:
  /// Null if no option of ours concerns `M`, whose calls must not have been
  /// inlined yet. Ends the program with one error if the file is not what it
  /// should be, or asks for a policy where `HasPolicy` is false.
  static std::unique_ptr<InliningDecisions> of(llvm::Module &M, bool HasPolicy);

  /// Reports the coverage as a remark, and writes what was decided.
  ~InliningDecisions();
  InliningDecisions(const InliningDecisions &) = delete;
  InliningDecisions &operator=(const InliningDecisions &) = delete;

  bool asksPolicy() const {
    return Section.Elsewhere.Is == Otherwise::Rule::Policy;
  }
  /// Whether takeDecisionsInto asks for no more than an account of what the
  /// policy or the default decides, which then decides as in a compile without.
  bool keepsAccountAlone() const;

  /// What decides where nothing is given: the default heuristic, the policy,
  /// LLVM's estimate of the cost as the advisor computes it. Only what is
  /// needed is computed.
  struct Alternatives {
    llvm::function_ref<bool()> Default;
    llvm::function_ref<bool()> Policy;
    llvm::function_ref<int64_t()> Cost;
  };

  struct Answer {
    std::string CallSite;
    bool Inline;
  };

  /// Must be asked about each call for which an advisor decides, in its order.
  Answer decide(const llvm::CallBase &CB, const Alternatives &By,
                llvm::OptimizationRemarkEmitter &ORE);

private:
  InliningDecisions(llvm::Module &M, DecisionSection Section,
                    std::shared_ptr<const DecisionFile> File);

  bool decideElsewhere(const Alternatives &By) const;

  llvm::Module &M;
  /// Null if the compile only writes what it decides.
  const std::shared_ptr<const DecisionFile> File;
  DecisionSection Section;
  CallSiteNames Names;
  size_t Applied = 0;
  size_t Unnamed = 0;
  /// Lines of the files that are written.
  std::string Taken, Replay;
};

} // namespace mlgo

#endif // MLGO_LLVM_DECISIONS_INLININGDECISIONS_H
