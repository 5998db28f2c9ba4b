// The files of -mlgo-decisions-taken and -mlgo-decisions-replay.
#ifndef MLGO_LLVM_DECISIONS_TAKENDECISIONS_H
#define MLGO_LLVM_DECISIONS_TAKENDECISIONS_H

#include <string>

#include "llvm/ADT/StringRef.h"

namespace llvm {
class CallBase;
} // namespace llvm

namespace mlgo {

// Appends a module's lines. The first module in a process replaces what is in the file, and `Head` comes before it.
// Modules of a parallel link are in the order in which its back ends end. Ends the program with one error, which names
// `Option`, if the file cannot be written.
void writeTaken(llvm::StringRef Option, llvm::StringRef Path, llvm::StringRef Head, llvm::StringRef Lines);

// A decision as a remark of LLVM's inliner, which -cgscc-inline-replay of any clang reads
// (llvm/lib/Analysis/ReplayInlineAdvisor.cpp); empty if the call has no debug location, which is its name there.
std::string replayLine(const llvm::CallBase &CB, bool Inline);

} // namespace mlgo

#endif // MLGO_LLVM_DECISIONS_TAKENDECISIONS_H
