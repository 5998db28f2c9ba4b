#include "development/confinement/confinement.h"

#include <fcntl.h>
#include <string.h>
#include <sys/prctl.h>
#include <unistd.h>

#include "development/confinement/landlock.h"
#include "development/confinement/system_calls.h"

namespace mlgo {

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

const char *ConfineToCurrentDirectory(const Walls &walls, const Executable *executable) {
  // Both walls need it. It also takes away what a program with the set-user-ID bit would give.
  if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0)) return "prctl";
  Execution execution = Execution::kNothing;
  if (executable) execution = executable->is_native ? Execution::kOnce : Execution::kEverything;
  const char *failed = nullptr;
  const int version = walls.landlock ? LandlockVersion() : 0;
  if (version) {
    const int directory = open(".", O_PATH | O_DIRECTORY | O_CLOEXEC);
    if (directory < 0) return "open";
    FileAccess access = {directory, execution == Execution::kEverything, {-1, -1}};
    if (execution == Execution::kOnce) {
      access.programs[0] = executable->program;
      access.programs[1] = executable->loader;
    }
    failed = RestrictFiles(version, access);
    close(directory);
  }
  if (!failed && walls.filter && HasFilters())
    failed = ForbidSystemCalls(execution, executable ? executable->program : -1, kEmptyPath);
  return failed;
}

}  // namespace mlgo
