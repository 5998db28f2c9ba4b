// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

/// \file
/// Functions for which the result of the passes is known from an earlier try of
/// the same search.

#ifndef MLGO_RELEASE_SEARCH_KNOWNPASSES_H
#define MLGO_RELEASE_SEARCH_KNOWNPASSES_H

#include "KnownCode.h"
#include "SimplifiedFunction.h"

#include "llvm/ADT/Any.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/IR/PassManager.h"

#include <map>
#include <memory>
#include <string>

namespace llvm {
class Function;
class Module;
class PassBuilder;
} // namespace llvm

namespace mlgo::search {

/// Digest of a function before its simplification → bitcode of the function
/// after it.
using Simplified = std::map<std::string, std::string>;

/// Leaves out passes from the inliner on, in the pipeline in which it is
/// registered.
///
/// The simplification of a function while the inliner walks the call graph: its
/// result is taken over. The optimisation afterwards: the function stays as it
/// is, and its code counts as many bytes as are known for the digest that it
/// then had (`replaceKnown`).
class KnownPasses {
public:
  /// Adds callbacks, which do nothing until a try starts.
  void registerIn(llvm::PassBuilder &Building);

  /// The inliner starts in a try. Without `Code` nothing is left out, and
  /// what is new is noted all the same.
  void start(const llvm::Module &M, const Simplified &Earlier,
             const KnownCode *Code);

  /// Function → digest before its optimisation.
  const llvm::StringMap<std::string> &beforeOptimisation() const {
    return Digests;
  }
  /// What the try adds.
  const Simplified &added() const { return Added; }

private:
  friend class NotesAnalyses;
  friend class DropsAnalyses;

  enum class Phase { Idle, Inlining, Optimising };

  void before(llvm::StringRef Pass, const llvm::Any &IR);
  bool shouldRun(const llvm::Any &IR) const;
  void after(llvm::StringRef Pass, const llvm::Any &IR);
  void startFunction(llvm::Function &F);
  void endFunction(llvm::Function &F);
  bool isKnown(llvm::Function &F);
  void takeAway(llvm::Function &F);

  Phase Now = Phase::Idle;
  /// Of pipelines that run on a function.
  unsigned Depth = 0;
  llvm::FunctionAnalysisManager *Analyses = nullptr;
  const Simplified *Earlier = nullptr;
  const KnownCode *Code = nullptr;
  Simplified Added;
  llvm::StringMap<std::string> Digests;
  /// Local symbols when the inliner starts: passes make others, with names that
  /// may stand for something else in the next try.
  llvm::StringSet<> LocalSymbols;

  /// The function whose passes run.
  std::string Digest;
  /// Its passes are left out if one of them is set: what it will be, or its
  /// body as it stays.
  std::unique_ptr<SimplifiedFunction> Result;
  std::unique_ptr<llvm::Module> Kept;
  const llvm::Function *Skipped = nullptr;
};

} // namespace mlgo::search

#endif // MLGO_RELEASE_SEARCH_KNOWNPASSES_H
