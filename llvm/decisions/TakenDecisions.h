// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

/// \file
/// What a compile tells about decisions: the files that it writes, and the
/// coverage of the file that it was given.

#ifndef MLGO_LLVM_DECISIONS_TAKENDECISIONS_H
#define MLGO_LLVM_DECISIONS_TAKENDECISIONS_H

#include <string>

#include "llvm/ADT/StringRef.h"

#include <cstddef>

namespace llvm {
class CallBase;
class Module;
} // namespace llvm

namespace mlgo {

/// A file that the compiles of a process write, a part for each module.
struct WrittenFile {
  /// Names it in errors.
  llvm::StringRef Option;
  llvm::StringRef Path;
  /// Stands before the first part.
  llvm::StringRef Head;
  /// Whether two modules of one source may be in it.
  bool RepeatsSources;
};

/// Appends the lines of a module compiled from `Source`. The first module in a
/// process replaces what is in the file. Modules of a parallel link are in the
/// order in which its back ends end. Ends the program with one error if the
/// file cannot be written, or would be none that can be read.
void writeTaken(const WrittenFile &To, llvm::StringRef Source,
                llvm::StringRef Lines);

/// What a compile did with the decisions of a file.
struct Coverage {
  /// What the file decides about, and what the compile asks about, as plurals.
  llvm::StringRef Decisions, Questions;
  llvm::StringRef Path;
  size_t Applied;
  size_t Given;
  size_t Unnamed;
};

/// A remark, which -Rpass-analysis=mlgo-decisions prints. It stands at the
/// module's first function.
void reportCoverage(llvm::Module &M, const Coverage &Of);

/// A decision as a remark of LLVM's inliner, which -cgscc-inline-replay of any
/// clang reads (llvm/lib/Analysis/ReplayInlineAdvisor.cpp); empty if the call
/// has no debug location, which is its name there.
std::string replayLine(const llvm::CallBase &CB, bool Inline);

} // namespace mlgo

#endif // MLGO_LLVM_DECISIONS_TAKENDECISIONS_H
