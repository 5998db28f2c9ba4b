// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "development/confinement/confinement.h"

#include <fcntl.h>
#include <string.h>
#include <sys/prctl.h>
#include <unistd.h>

#include "development/confinement/landlock.h"
#include "development/confinement/system_calls.h"

namespace mlgo {

namespace {

/// Both walls need it. It also takes away what a program with the set-user-ID
/// bit would give.
const char *GiveUpPrivileges() {
  return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) ? "prctl" : nullptr;
}

Execution ExecutionPolicy(const Executable *executable) {
  if (!executable)
    return Execution::kNothing;
  return executable->is_native ? Execution::kOnce : Execution::kEverything;
}

} // namespace

const char kEmptyPath[] = "";

bool ParseWalls(const char *word, Walls *walls) {
  const bool all = !strcmp(word, "all");
  walls->landlock = all || !strcmp(word, "landlock");
  walls->filter = all || !strcmp(word, "filter");
  return walls->landlock || walls->filter || !strcmp(word, "none");
}

Available FindWalls() {
  Available found;
  found.landlock_version = LandlockVersion();
  found.filter = HasFilters();
  return found;
}

const char *ConfineCalls(const Walls &walls, const Executable *executable) {
  if (const char *failed = GiveUpPrivileges())
    return failed;
  if (!walls.filter || !HasFilters())
    return nullptr;
  return ForbidSystemCalls(ExecutionPolicy(executable),
                           executable ? executable->program : -1, kEmptyPath);
}

const char *ConfineToCurrentDirectory(const Walls &walls,
                                      const Executable *executable) {
  if (const char *failed = GiveUpPrivileges())
    return failed;
  const int version = walls.landlock ? LandlockVersion() : 0;
  if (!version)
    return nullptr;
  const int directory = open(".", O_PATH | O_DIRECTORY | O_CLOEXEC);
  if (directory < 0)
    return "open";
  const Execution execution = ExecutionPolicy(executable);
  FileAccess access = {
      directory, execution == Execution::kEverything, {-1, -1}};
  if (execution == Execution::kOnce) {
    access.programs[0] = executable->program;
    access.programs[1] = executable->loader;
  }
  const char *failed = RestrictFiles(version, access);
  close(directory);
  return failed;
}

} // namespace mlgo
