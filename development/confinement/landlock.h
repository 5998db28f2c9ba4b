// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

/// \file
/// Landlock (https://docs.kernel.org/userspace-api/landlock.html): a process
/// gives up access to files, for itself and its children.

#ifndef MLGO_DEVELOPMENT_CONFINEMENT_LANDLOCK_H
#define MLGO_DEVELOPMENT_CONFINEMENT_LANDLOCK_H

namespace mlgo {

/// Version of the kernel's interface; 0: there is no Landlock, it is not
/// enabled, or a container forbids it.
int landlockVersion();

struct FileAccess {
  /// Descriptor of the folder below which regular files and folders may be
  /// made, written and removed.
  int Directory;
  /// Whether every program may be executed; if not, only the next two.
  bool ExecuteAll;
  /// Descriptors of files that may be executed; -1: none.
  int Programs[2];
};

/// Allows this process only `Access`, writing to /dev/null, and reading. From
/// version 2 on files cannot be linked into the folder, from 3 on they cannot
/// be truncated elsewhere, from 4 on there is no TCP, from 5 on devices take no
/// ioctl, and from 6 on no signals reach other processes. Earlier versions lack
/// what later ones forbid.
///
/// \param Version of LandlockVersion, at least 1.
/// \returns null, or the failed system call, with errno set.
const char *restrictFiles(int Version, const FileAccess &Access);

} // namespace mlgo

#endif // MLGO_DEVELOPMENT_CONFINEMENT_LANDLOCK_H
