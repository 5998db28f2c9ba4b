// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

/// \file
/// How a child of SilentChild.h ended: by its own doing, or by the machine's.
/// Needs nothing of LLVM.

#ifndef MLGO_LLVM_SILENT_CHILD_CHILDEND_H
#define MLGO_LLVM_SILENT_CHILD_CHILDEND_H

#include <string>
#include <string_view>

namespace mlgo {

/// Statuses with which a child exits. LLVM itself exits with 1 on an error.
enum ExitStatus : int {
  Done = 0,
  TryLost = 1,
  // The child sent a sentence in place of a result.
  MachineFailed = 100,
  MemoryExhausted = 101,
  StackExhausted = 102,
  PipeBroken = 103,
};

struct ChildEnd {
  /// Whether the child sent a result. Otherwise the try is lost, unless the
  /// machine ended it.
  bool IsDone = false;
  /// What the machine did; empty: nothing.
  std::string OfMachine = {};
};

/// \param Status of waitpid.
/// \param Sent all that the child wrote.
ChildEnd endOf(int Status, std::string_view Sent);

/// Whether an error message contains the system's text for a lack of memory,
/// space, descriptors, ...
bool isAboutMachine(std::string_view Message);

/// Whether a signal handler's fault is an access just below the stack. Context:
/// the handler's third argument.
bool isBelowStack(const void *Address, const void *Context);

} // namespace mlgo

#endif // MLGO_LLVM_SILENT_CHILD_CHILDEND_H
