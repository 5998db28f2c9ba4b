// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

/// \file
/// A program that is started once, behind a filter that forbids to start
/// another one.

#ifndef MLGO_DEVELOPMENT_CONFINEMENT_EXECUTABLE_H
#define MLGO_DEVELOPMENT_CONFINEMENT_EXECUTABLE_H

namespace mlgo {

struct Executable {
  int Program = -1; ///< descriptors, closed on execution
  int Loader = -1;  ///< -1: it has none
  /// Whether it starts without the help of another program. A script does not:
  /// its interpreter is started, which starts others.
  bool IsNative = false;
};

/// Opens the program at `Path`; with `IsNative` unset if it is no ELF program
/// for 64 bits, or cannot be read.
Executable openExecutable(const char *Path);

/// Becomes the program at `Path`, opened as `Started`. Returns on failure
/// only, with errno set.
///
/// \param EmptyPath the string that the filter knows (system_calls.h).
void become(const Executable &Started, const char *Path, const char *EmptyPath,
            char **Arguments);

} // namespace mlgo

#endif // MLGO_DEVELOPMENT_CONFINEMENT_EXECUTABLE_H
