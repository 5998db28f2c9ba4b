// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

/// \file
/// A program that is started once, behind a filter that forbids to start
/// another one.

#ifndef MLGO_DEVELOPMENT_CONFINEMENT_EXECUTABLE_H
#define MLGO_DEVELOPMENT_CONFINEMENT_EXECUTABLE_H

namespace mlgo {

struct Executable {
  int program = -1; ///< descriptors, closed on execution
  int loader = -1;  ///< -1: it has none
  /// Whether it starts without the help of another program. A script does not:
  /// its interpreter is started, which starts others.
  bool is_native = false;
};

/// Opens the program at `path`; with `is_native` unset if it is no ELF program
/// for 64 bits, or cannot be read.
Executable OpenExecutable(const char *path);

/// Becomes the program at `path`, opened as `executable`. Returns on failure
/// only, with errno set.
///
/// \param empty_path the string that the filter knows (system_calls.h).
void Become(const Executable &executable, const char *path,
            const char *empty_path, char **arguments);

} // namespace mlgo

#endif // MLGO_DEVELOPMENT_CONFINEMENT_EXECUTABLE_H
