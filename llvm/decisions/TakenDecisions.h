// The file of -mlgo-decisions-taken.
#ifndef MLGO_LLVM_DECISIONS_TAKENDECISIONS_H
#define MLGO_LLVM_DECISIONS_TAKENDECISIONS_H

#include "llvm/ADT/StringRef.h"

namespace mlgo {

// Appends a section. The first one in a process replaces what is in the file. Sections of a parallel link are in the
// order in which its back ends end. Ends the program with one error if the file cannot be written.
void writeTaken(llvm::StringRef Path, llvm::StringRef Section);

} // namespace mlgo

#endif // MLGO_LLVM_DECISIONS_TAKENDECISIONS_H
