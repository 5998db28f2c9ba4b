// Ends the program with one sentence. LLVM 19 names the function differently.
#ifndef MLGO_LLVM_DECISIONS_USAGEERROR_H
#define MLGO_LLVM_DECISIONS_USAGEERROR_H

#include "llvm/ADT/Twine.h"
#include "llvm/Config/llvm-config.h"
#include "llvm/Support/ErrorHandling.h"

namespace mlgo {

[[noreturn]] inline void endWithUsageError(const llvm::Twine &Sentence) {
#if LLVM_VERSION_MAJOR < 21
  llvm::report_fatal_error(Sentence, /*gen_crash_diag=*/false);
#else
  llvm::reportFatalUsageError(Sentence);
#endif
}

} // namespace mlgo

#endif // MLGO_LLVM_DECISIONS_USAGEERROR_H
