// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

/// \file
/// A seccomp filter: system calls that a compiler does not need, and that could
/// do harm, fail with EPERM.

#ifndef MLGO_DEVELOPMENT_CONFINEMENT_SYSTEM_CALLS_H
#define MLGO_DEVELOPMENT_CONFINEMENT_SYSTEM_CALLS_H

namespace mlgo {

/// Whether this kernel and container take filters.
bool hasFilters();

/// Which programs the process may execute afterwards.
enum class Execution {
  Nothing,
  /// The file of `Descriptor`: execveat(descriptor, path, ..., AT_EMPTY_PATH)
  /// with this very `Path`, an empty string.
  Once,
  Everything,
};

/// Forbids, for this process and its children: sockets, other programs,
/// tracing, namespaces, mounting, file attributes, io_uring and what else is
/// listed in system_calls.cpp. Other architectures' calls, and calls that are
/// newer than the list, fail with ENOSYS.
///
/// \param Descriptor for Once only.
/// \param Path for Once only.
/// \returns null, or the failed system call, with errno set.
const char *forbidSystemCalls(Execution Allowed, int Descriptor = -1,
                              const char *Path = nullptr);

} // namespace mlgo

#endif // MLGO_DEVELOPMENT_CONFINEMENT_SYSTEM_CALLS_H
