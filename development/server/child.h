// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

/// \file
/// A child process of the server: its directory, its limits and its end.

#ifndef MLGO_DEVELOPMENT_SERVER_CHILD_H
#define MLGO_DEVELOPMENT_SERVER_CHILD_H

#include <sys/resource.h>
#include <sys/types.h>

#include "development/confinement/confinement.h"
#include "development/server/protocol.h"

namespace mlgo {

/// Forks. Returns 0 in the child, which from then on works in the request's
/// directory, confined to it, within its limits, in a session of its own,
/// writes its messages to the request's descriptor, and is killed when its
/// parent ends. A child of a child is confined to both directories, so its own
/// must lie in its parent's. Returns the child's number in the parent, or a
/// negative number on failure, and closes the request's descriptor there.
pid_t forkInto(const Request &Asked, const Sandbox &Walls);

/// Waits for the end of `Child`, kills the rest of its process group, and sends
/// `Kind` to the client. A kill order or the end of the stream kills the child
/// at once. Returns false if the client is gone.
///
/// \param TakenOver becomes readable when `Child` starts to read the socket
///   itself; -1: it never does.
bool waitAndReport(int Socket, pid_t Child, AnswerKind Kind = AnswerKind::Ended,
                   int TakenOver = -1);

/// User + system time in microseconds.
int64_t cpuMicroseconds(const rusage &Usage);

} // namespace mlgo

#endif // MLGO_DEVELOPMENT_SERVER_CHILD_H
