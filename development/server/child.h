// A process forked off the server: where it works, what it may use, and how it ends.

#ifndef MLGO_DEVELOPMENT_SERVER_CHILD_H
#define MLGO_DEVELOPMENT_SERVER_CHILD_H

#include <sys/types.h>

#include "development/server/protocol.h"

namespace mlgo {

// Called in a child: from here on it works in the request's directory, within its limits, in a session of its own, writes
// its messages where the request says, and dies with `parent`. False, with a message there, when that is not possible.
bool Enter(const Request &request, pid_t parent);

// Waits for the end of `child`, ends what it left in its group, and tells the client. A kill order, or the end of the stream,
// ends it at once. False when the client is gone.
bool WatchToTheEnd(int socket, pid_t child);

}  // namespace mlgo

#endif  // MLGO_DEVELOPMENT_SERVER_CHILD_H
