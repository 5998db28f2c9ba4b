// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

/// \file
/// limited_exec WALLS PARENT CPU_SECONDS ADDRESS_SPACE_BYTES FILE_BYTES PROGRAM
/// ARGUMENTS... limited_exec --describe PROGRAM
///
/// Becomes PROGRAM inside resource limits, confined to the current directory
/// (//development/confinement), and dies with the process that asked for it.
/// Python could set limits between fork and exec only by copying the page
/// tables of a process with TensorFlow in it; this starts through vfork. WALLS:
/// all, none, landlock or filter. Exit code 127 and one line on stderr when
/// PROGRAM cannot be started.
///
/// The second form prints what confines PROGRAM here: "landlock VERSION",
/// "filter 0|1" and "native 0|1", a line each. The version is 0 where there is
/// no Landlock; a program that is not native, such as a script, may execute
/// others.

#include <errno.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <unistd.h>

#include "development/confinement/confinement.h"
#include "development/confinement/limits.h"

namespace {

/// What the caller takes for "cannot be started" (mlgo/compiler/process.py).
constexpr int kCannotStart = 127;

bool ParseNumber(const char *text, uint64_t *value) {
  char *end = nullptr;
  errno = 0;
  *value = strtoull(text, &end, 10);
  return !errno && end != text && !*end;
}

int Describe(const char *path) {
  const mlgo::Available found = mlgo::FindWalls();
  printf("landlock %d\nfilter %d\nnative %d\n", found.landlock_version,
         found.filter, mlgo::OpenExecutable(path).is_native);
  return 0;
}

} // namespace

int main(int argc, char **argv) {
  if (argc == 3 && !strcmp(argv[1], "--describe"))
    return Describe(argv[2]);
  mlgo::Walls walls;
  if (argc < 7 || !mlgo::ParseWalls(argv[1], &walls)) {
    fputs("usage: limited_exec all|none|landlock|filter PARENT CPU_SECONDS "
          "ADDRESS_SPACE_BYTES FILE_BYTES PROGRAM ARGUMENTS...\n",
          stderr);
    return kCannotStart;
  }
  // The parent may have died before prctl; then no signal would end this
  // process.
  if (prctl(PR_SET_PDEATHSIG, SIGKILL) ||
      getppid() != static_cast<pid_t>(atoi(argv[2]))) {
    fputs("limited_exec: the process that started this is gone\n", stderr);
    return kCannotStart;
  }
  mlgo::Limits limits;
  if (!ParseNumber(argv[3], &limits.cpu_seconds) ||
      !ParseNumber(argv[4], &limits.address_space_bytes) ||
      !ParseNumber(argv[5], &limits.file_bytes) || !mlgo::SetLimits(limits)) {
    fprintf(stderr, "limited_exec: cannot set limits %s %s %s: %s\n", argv[3],
            argv[4], argv[5], strerror(errno));
    return kCannotStart;
  }
  const mlgo::Executable executable = mlgo::OpenExecutable(argv[6]);
  const char *failed = mlgo::ConfineToCurrentDirectory(walls, &executable);
  if (!failed)
    failed = mlgo::ConfineCalls(walls, &executable);
  if (failed) {
    fprintf(stderr, "limited_exec: cannot confine %s: %s: %s\n", argv[6],
            failed, strerror(errno));
    return kCannotStart;
  }
  mlgo::Become(executable, argv[6], mlgo::kEmptyPath, argv + 6);
  fprintf(stderr, "limited_exec: cannot start %s: %s\n", argv[6],
          strerror(errno));
  return kCannotStart;
}
