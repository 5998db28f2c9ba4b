// The walls around a process that compiles foreign code.

#ifndef MLGO_DEVELOPMENT_CONFINEMENT_CONFINEMENT_H
#define MLGO_DEVELOPMENT_CONFINEMENT_CONFINEMENT_H

#include "development/confinement/executable.h"

namespace mlgo {

// Which walls are built, of those that the kernel has. Fewer than all of them serve tests and measurements.
struct Walls {
  bool landlock = true;
  bool filter = true;
};

// "all", "none", "landlock" or "filter". Returns false for another word.
bool ParseWalls(const char *word, Walls *walls);

// What the kernel and the container of this process have.
struct Available {
  int landlock_version = 0;
  bool filter = false;
};
Available FindWalls();

// An empty string at a fixed place, for ForbidSystemCalls and Become.
extern const char kEmptyPath[];

// Confines this process and its children to the current directory: they write nowhere else, reach no network and execute no program but
// `executable`, once. Without a native executable, a child of the compile server executes nothing, and a script everything. Walls that
// the kernel does not have are left out.
//
// Args: executable: null for a process that executes nothing.
// Returns: null, or the failed system call, with errno set; then the process must end.
const char *ConfineToCurrentDirectory(const Walls &walls, const Executable *executable);

}  // namespace mlgo

#endif  // MLGO_DEVELOPMENT_CONFINEMENT_CONFINEMENT_H
