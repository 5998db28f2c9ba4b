// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

/// \file
/// A forked copy of a compiler that tries something (README.md).

#ifndef MLGO_LLVM_SILENT_CHILD_SILENTCHILD_H
#define MLGO_LLVM_SILENT_CHILD_SILENTCHILD_H

#include <optional>
#include <string>

#include "llvm/ADT/StringRef.h"

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

/// For the child.
[[noreturn]] void sendToParent(llvm::StringRef Content);
/// \param Reason an error message of LLVM's, which may be about the machine.
[[noreturn]] void loseTry(llvm::StringRef Reason = "");

} // namespace mlgo

#endif // MLGO_LLVM_SILENT_CHILD_SILENTCHILD_H
