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
const char *giveUpPrivileges() {
  return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) ? "prctl" : nullptr;
}

Execution executionPolicy(const Executable *Started) {
  if (!Started)
    return Execution::Nothing;
  return Started->IsNative ? Execution::Once : Execution::Everything;
}

} // namespace

const char EmptyPath[] = "";

bool parseWalls(const char *Word, Sandbox *Walls) {
  const bool All = !strcmp(Word, "all");
  Walls->Landlock = All || !strcmp(Word, "landlock");
  Walls->Filter = All || !strcmp(Word, "filter");
  return Walls->Landlock || Walls->Filter || !strcmp(Word, "none");
}

Available findWalls() {
  Available Found;
  Found.LandlockVersion = landlockVersion();
  Found.Filter = hasFilters();
  return Found;
}

const char *confineCalls(const Sandbox &Walls, const Executable *Started) {
  if (const char *Failed = giveUpPrivileges())
    return Failed;
  if (!Walls.Filter || !hasFilters())
    return nullptr;
  return forbidSystemCalls(executionPolicy(Started),
                           Started ? Started->Program : -1, EmptyPath);
}

const char *confineToCurrentDirectory(const Sandbox &Walls,
                                      const Executable *Started) {
  if (const char *Failed = giveUpPrivileges())
    return Failed;
  const int Version = Walls.Landlock ? landlockVersion() : 0;
  if (!Version)
    return nullptr;
  const int Directory = open(".", O_PATH | O_DIRECTORY | O_CLOEXEC);
  if (Directory < 0)
    return "open";
  const Execution Allowed = executionPolicy(Started);
  FileAccess Access = {Directory, Allowed == Execution::Everything, {-1, -1}};
  if (Allowed == Execution::Once) {
    Access.Programs[0] = Started->Program;
    Access.Programs[1] = Started->Loader;
  }
  const char *Failed = restrictFiles(Version, Access);
  close(Directory);
  return Failed;
}

} // namespace mlgo
