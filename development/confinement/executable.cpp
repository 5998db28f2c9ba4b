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

bool Read(int file, void *bytes, size_t count, uint64_t offset) {
  return pread(file, bytes, count, static_cast<off_t>(offset)) ==
         static_cast<ssize_t>(count);
}

/// Opens the program that the kernel starts for a dynamically linked one
/// (PT_INTERP); -1: there is none.
int OpenLoader(int program, const Elf64_Ehdr &header) {
  if (header.e_phentsize != sizeof(Elf64_Phdr))
    return -1;
  for (unsigned index = 0; index < header.e_phnum; ++index) {
    Elf64_Phdr part;
    if (!Read(program, &part, sizeof(part),
              header.e_phoff + index * sizeof(part)))
      return -1;
    if (part.p_type != PT_INTERP)
      continue;
    char path[PATH_MAX];
    if (!part.p_filesz || part.p_filesz > sizeof(path) ||
        !Read(program, path, part.p_filesz, part.p_offset))
      return -1;
    return path[part.p_filesz - 1] ? -1 : open(path, O_PATH | O_CLOEXEC);
  }
  return -1;
}

} // namespace

Executable OpenExecutable(const char *path) {
  Executable found;
  found.program = open(path, O_RDONLY | O_CLOEXEC);
  Elf64_Ehdr header;
  if (found.program < 0 || !Read(found.program, &header, sizeof(header), 0))
    return found;
  found.is_native = !memcmp(header.e_ident, ELFMAG, SELFMAG) &&
                    header.e_ident[EI_CLASS] == ELFCLASS64;
  if (found.is_native)
    found.loader = OpenLoader(found.program, header);
  return found;
}

void Become(const Executable &executable, const char *path,
            const char *empty_path, char **arguments) {
  if (executable.is_native)
    syscall(SYS_execveat, executable.program, empty_path, arguments, environ,
            AT_EMPTY_PATH);
  else
    execv(path, arguments);
}

} // namespace mlgo
