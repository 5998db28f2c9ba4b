// A process forked off the server: where it works, what it may use, and how it ends.

#ifndef MLGO_DEVELOPMENT_SERVER_CHILD_H
#define MLGO_DEVELOPMENT_SERVER_CHILD_H

#include <sys/resource.h>
#include <sys/types.h>

#include "development/server/protocol.h"

namespace mlgo {

// Forks. In the child, which gets 0: from here on it works in the request's
// directory, within its limits, in a session of its own, writes its messages where the request says, and dies with its parent.
// The parent gets the child's number, below 0 when there is none, and closes the request's descriptor.
pid_t ForkInto(const Request &request);

// Waits for the end of `child`, ends what it left in its group, and tells the client as `event`. A kill order, or the end of
// the stream, ends it at once. False when the client is gone.
//
// Args: taken_over: becomes readable when `child` reads the socket itself from then on; -1: it never does.
bool WatchToTheEnd(int socket, pid_t child, Event event = Event::kEnded, int taken_over = -1);

// User + system time in microseconds.
int64_t CpuMicroseconds(const rusage &usage);

}  // namespace mlgo

#endif  // MLGO_DEVELOPMENT_SERVER_CHILD_H
