// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "development/confinement/executable.h"

#include <elf.h>
#include <fcntl.h>
#include <limits.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace mlgo {
namespace {

bool readAt(int File, void *Bytes, size_t Count, uint64_t Offset) {
  return pread(File, Bytes, Count, static_cast<off_t>(Offset)) ==
         static_cast<ssize_t>(Count);
}

/// Opens the program that the kernel starts for a dynamically linked one
/// (PT_INTERP); -1: there is none.
int openLoader(int Program, const Elf64_Ehdr &Header) {
  if (Header.e_phentsize != sizeof(Elf64_Phdr))
    return -1;
  for (unsigned Index = 0; Index < Header.e_phnum; ++Index) {
    Elf64_Phdr Part;
    if (!readAt(Program, &Part, sizeof(Part),
                Header.e_phoff + Index * sizeof(Part)))
      return -1;
    if (Part.p_type != PT_INTERP)
      continue;
    char Path[PATH_MAX];
    if (!Part.p_filesz || Part.p_filesz > sizeof(Path) ||
        !readAt(Program, Path, Part.p_filesz, Part.p_offset))
      return -1;
    return Path[Part.p_filesz - 1] ? -1 : open(Path, O_PATH | O_CLOEXEC);
  }
  return -1;
}

} // namespace

Executable openExecutable(const char *Path) {
  Executable Found;
  Found.Program = open(Path, O_RDONLY | O_CLOEXEC);
  Elf64_Ehdr Header;
  if (Found.Program < 0 || !readAt(Found.Program, &Header, sizeof(Header), 0))
    return Found;
  Found.IsNative = !memcmp(Header.e_ident, ELFMAG, SELFMAG) &&
                   Header.e_ident[EI_CLASS] == ELFCLASS64;
  if (Found.IsNative)
    Found.Loader = openLoader(Found.Program, Header);
  return Found;
}

void become(const Executable &Started, const char *Path, const char *EmptyPath,
            char **Arguments) {
  if (Started.IsNative)
    syscall(SYS_execveat, Started.Program, EmptyPath, Arguments, environ,
            AT_EMPTY_PATH);
  else
    execv(Path, Arguments);
}

} // namespace mlgo
