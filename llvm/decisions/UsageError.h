// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

/// \file
/// Ends the program with one sentence.

#ifndef MLGO_LLVM_DECISIONS_USAGEERROR_H
#define MLGO_LLVM_DECISIONS_USAGEERROR_H

#include "llvm/ADT/StringRef.h"
#include "llvm/ADT/Twine.h"
#include "llvm/Support/ErrorHandling.h"

namespace mlgo {

[[noreturn]] inline void endWithUsageError(const llvm::Twine &Sentence) {
  llvm::reportFatalUsageError(Sentence);
}

/// Decision files name functions, and decisions in several functions without a
/// name could not be told apart.
inline void requireName(llvm::StringRef Function, llvm::StringRef Option,
                        llvm::StringRef Source) {
  if (Function.empty())
    endWithUsageError(
        "-" + Option + ": " + Source +
        " has a function without a name, which a file of decisions cannot "
        "name. Name it (opt -passes=name-anon-globals), or remove the option");
}

} // namespace mlgo

#endif // MLGO_LLVM_DECISIONS_USAGEERROR_H
