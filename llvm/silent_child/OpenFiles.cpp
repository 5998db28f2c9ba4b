// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "OpenFiles.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallVector.h"

#include <cerrno>
#include <cstdlib>
#include <optional>

#include <dirent.h>
#include <fcntl.h>
#include <unistd.h>

using namespace llvm;

namespace {

/// Empty: there is no /proc, or it cannot be read.
std::optional<SmallVector<int, 16>> openDescriptors() {
  DIR *const Open = opendir("/proc/self/fd");
  if (!Open)
    return std::nullopt;
  SmallVector<int, 16> Found;
  errno = 0;
  while (const dirent *const Entry = readdir(Open))
    if (Entry->d_name[0] != '.')
      Found.push_back(std::atoi(Entry->d_name));
  const int Error = errno;
  const int Own = dirfd(Open);
  closedir(Open);
  if (Error)
    return std::nullopt;
  erase(Found, Own);
  return Found;
}

/// The same, in a slower way.
SmallVector<int, 16> triedDescriptors() {
  // A compiler does not have more open. What a parent left open is closed, if
  // the kernel has the call.
  constexpr int Most = 1 << 12;
  close_range(Most, ~0U, /*flags=*/0);
  SmallVector<int, 16> Found;
  for (int Descriptor = 0; Descriptor < Most; ++Descriptor)
    if (fcntl(Descriptor, F_GETFD) >= 0)
      Found.push_back(Descriptor);
  return Found;
}

} // namespace

StringRef mlgo::detachOpenFiles(int Kept) {
  const int Nothing = open("/dev/null", O_RDWR | O_CLOEXEC);
  if (Nothing < 0)
    return "opening /dev/null";
  const auto Listed = openDescriptors();
  for (const int Descriptor : Listed ? *Listed : triedDescriptors()) {
    if (Descriptor == Nothing || Descriptor == Kept)
      continue;
    const int Flags = fcntl(Descriptor, F_GETFL);
    const bool IsWritable = Flags >= 0 && (Flags & O_ACCMODE) != O_RDONLY;
    if ((IsWritable || Descriptor <= STDERR_FILENO) &&
        dup2(Nothing, Descriptor) < 0)
      return "dup2";
  }
  // A stream that was closed stays closed for the parent, but a file that the
  // child opens must not become one.
  for (int Stream = STDIN_FILENO; Stream <= STDERR_FILENO; ++Stream)
    if (fcntl(Stream, F_GETFD) < 0 && dup2(Nothing, Stream) < 0)
      return "dup2";
  if (Nothing > STDERR_FILENO)
    close(Nothing);
  return {};
}
