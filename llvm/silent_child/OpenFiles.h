// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

/// \file
/// The files that a copy of a process shares with it.

#ifndef MLGO_LLVM_SILENT_CHILD_OPENFILES_H
#define MLGO_LLVM_SILENT_CHILD_OPENFILES_H

#include "llvm/ADT/StringRef.h"

namespace mlgo {

/// Puts /dev/null in the place of the standard streams and of what the process
/// has open for writing, such as outputs, whose position it shares with its
/// parent. \param Kept a descriptor that stays as it is.
/// \returns the call that failed, with errno; empty: none.
llvm::StringRef detachOpenFiles(int Kept);

} // namespace mlgo

#endif // MLGO_LLVM_SILENT_CHILD_OPENFILES_H
