// A forked copy of a compiler that tries something.
#ifndef MLGO_LLVM_SILENT_CHILD_SILENTCHILD_H
#define MLGO_LLVM_SILENT_CHILD_SILENTCHILD_H

#include "llvm/ADT/StringRef.h"
#include "llvm/Support/ErrorHandling.h"

#include <cerrno>
#include <csignal>
#include <cstdlib>

#include <sys/resource.h>
#include <unistd.h>

namespace mlgo {

// LLVM's handlers of signals and fatal errors would remove the outputs of the parent, and print. For the child.
inline void dieSilently() {
  const auto Fail = [](void *, const char *, bool) { _exit(EXIT_FAILURE); };
  for (int Signal = 1; Signal < NSIG; ++Signal)
    std::signal(Signal, SIG_DFL);
  const rlimit NoCore = {0, 0};
  setrlimit(RLIMIT_CORE, &NoCore);
  llvm::remove_fatal_error_handler();
  llvm::install_fatal_error_handler(Fail);
  llvm::remove_bad_alloc_error_handler();
  llvm::install_bad_alloc_error_handler(Fail);
}

// Writes what a try found to a pipe or a file. Returns whether all of it was written.
inline bool writeAll(int Descriptor, llvm::StringRef Content) {
  while (!Content.empty()) {
    const ssize_t Written = ::write(Descriptor, Content.data(), Content.size());
    if (Written < 0 && errno == EINTR)
      continue;
    if (Written <= 0)
      return false;
    Content = Content.drop_front(Written);
  }
  return true;
}

} // namespace mlgo

#endif // MLGO_LLVM_SILENT_CHILD_SILENTCHILD_H
