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
constexpr int CannotStart = 127;

bool parseNumber(const char *Text, uint64_t *Value) {
  char *End = nullptr;
  errno = 0;
  *Value = strtoull(Text, &End, 10);
  return !errno && End != Text && !*End;
}

int describe(const char *Path) {
  const mlgo::Available Found = mlgo::findWalls();
  printf("landlock %d\nfilter %d\nnative %d\n", Found.LandlockVersion,
         Found.Filter, mlgo::openExecutable(Path).IsNative);
  return 0;
}

} // namespace

int main(int argc, char **argv) {
  if (argc == 3 && !strcmp(argv[1], "--describe"))
    return describe(argv[2]);
  mlgo::Sandbox Walls;
  if (argc < 7 || !mlgo::parseWalls(argv[1], &Walls)) {
    fputs("usage: limited_exec all|none|landlock|filter PARENT CPU_SECONDS "
          "ADDRESS_SPACE_BYTES FILE_BYTES PROGRAM ARGUMENTS...\n",
          stderr);
    return CannotStart;
  }
  // The parent may have died before prctl; then no signal would end this
  // process.
  if (prctl(PR_SET_PDEATHSIG, SIGKILL) ||
      getppid() != static_cast<pid_t>(atoi(argv[2]))) {
    fputs("limited_exec: the process that started this is gone\n", stderr);
    return CannotStart;
  }
  mlgo::ResourceLimits Limits;
  if (!parseNumber(argv[3], &Limits.CpuSeconds) ||
      !parseNumber(argv[4], &Limits.AddressSpaceBytes) ||
      !parseNumber(argv[5], &Limits.FileBytes) || !mlgo::setLimits(Limits)) {
    fprintf(stderr, "limited_exec: cannot set limits %s %s %s: %s\n", argv[3],
            argv[4], argv[5], strerror(errno));
    return CannotStart;
  }
  const mlgo::Executable Started = mlgo::openExecutable(argv[6]);
  const char *Failed = mlgo::confineToCurrentDirectory(Walls, &Started);
  if (!Failed)
    Failed = mlgo::confineCalls(Walls, &Started);
  if (Failed) {
    fprintf(stderr, "limited_exec: cannot confine %s: %s: %s\n", argv[6],
            Failed, strerror(errno));
    return CannotStart;
  }
  mlgo::become(Started, argv[6], mlgo::EmptyPath, argv + 6);
  fprintf(stderr, "limited_exec: cannot start %s: %s\n", argv[6],
          strerror(errno));
  return CannotStart;
}
