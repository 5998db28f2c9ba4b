// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

/// \file
/// A forked copy of a compiler that tries something (README.md).

#ifndef MLGO_LLVM_SILENT_CHILD_SILENTCHILD_H
#define MLGO_LLVM_SILENT_CHILD_SILENTCHILD_H

#include <optional>
#include <string>

#include "llvm/ADT/StringRef.h"

#include <sys/types.h>

namespace mlgo {

/// What `forkSilently` returns, in both processes.
struct Forked {
  bool IsChild;
  /// In the parent: what the child sent, or empty if it lost the try.
  std::optional<std::string> Sent;
};

/// Forks, and in the parent waits for the child's end.
///
/// The child prints nothing, writes to no open file but its pipe, removes no
/// file, leaves no core, and ends with its parent. It must end by
/// `sendToParent` or `loseTry`. A crash of its own and an error of LLVM lose
/// the try as well.
///
/// All other ends of the child, and all errors of the system in either process,
/// end the compile with one error: the result must not depend on the machine.
/// Option: for that error, with its dash.
Forked forkSilently(llvm::StringRef Option);

/// A child that answers several times, and waits between the answers. It is
/// silent, and ends, as that of forkSilently, in which alone it may be forked:
/// there no handler takes the signal of its end.
class AskedCopy {
public:
  explicit AskedCopy(llvm::StringRef Option);
  AskedCopy(const AskedCopy &) = delete;
  AskedCopy &operator=(const AskedCopy &) = delete;
  /// Ends the child, which must be waiting.
  ~AskedCopy();

  bool isChild() const { return Child == 0; }
  /// In the parent: what the child answers, first without a question. Empty: it
  /// has lost the try.
  std::optional<std::string> answer();
  /// For the next answer.
  void ask(llvm::StringRef Question);

private:
  void end(llvm::StringRef Sent);

  const std::string Option;
  pid_t Child = 0;
  int FromChild = -1, ToChild = -1;
  bool HasEnded = false;
};

/// For a child of AskedCopy. Returns: the next question. Ends the process if
/// there is none.
std::string answerAndWait(llvm::StringRef Content);

/// For the child.
[[noreturn]] void sendToParent(llvm::StringRef Content);
/// \param Reason an error message of LLVM's, which may be about the machine.
[[noreturn]] void loseTry(llvm::StringRef Reason = "");

} // namespace mlgo

#endif // MLGO_LLVM_SILENT_CHILD_SILENTCHILD_H
