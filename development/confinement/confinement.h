// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

/// \file
/// The walls around a process that compiles foreign code.

#ifndef MLGO_DEVELOPMENT_CONFINEMENT_CONFINEMENT_H
#define MLGO_DEVELOPMENT_CONFINEMENT_CONFINEMENT_H

#include "development/confinement/executable.h"

namespace mlgo {

/// Which walls are built, of those that the kernel has. Fewer than all of them
/// serve tests and measurements.
struct Sandbox {
  bool Landlock = true;
  bool Filter = true;
};

/// "all", "none", "landlock" or "filter". Returns false for another word.
bool parseWalls(const char *Word, Sandbox *Walls);

/// What the kernel and the container of this process have.
struct Available {
  int LandlockVersion = 0;
  bool Filter = false;
};
Available findWalls();

/// An empty string at a fixed place, for forbidSystemCalls and become.
extern const char EmptyPath[];

// The functions below confine this process and its children. Of the programs
// that may be executed, `Started` says: null: none; a native one: only this,
// once; a script: all, since its interpreter is another program. Walls that the
// kernel does not have are left out. They return null, or the failed system
// call, with errno set; then the process must end.

/// No network, no other program, and no system call that a compiler does not
/// need.
const char *confineCalls(const Sandbox &Walls, const Executable *Started);

/// Files are written in the current directory only. Inside a process that is
/// confined to another directory, the current one must lie in it.
const char *confineToCurrentDirectory(const Sandbox &Walls,
                                      const Executable *Started);

} // namespace mlgo

#endif // MLGO_DEVELOPMENT_CONFINEMENT_CONFINEMENT_H
