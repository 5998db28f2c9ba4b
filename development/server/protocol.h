// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

/// \file
/// The protocol between the compile server and its client
/// (mlgo/compiler/server.py), over a stream socket.
///
/// Client: 4 bytes, the payload's length, little-endian, with a descriptor for
/// the compiler's messages if the order needs one. Then the payload: a letter
/// (RequestKind) and, depending on the order, three 8-byte numbers (CPU
/// seconds, bytes of address space, bytes of a file), the directory and the
/// arguments, each followed by a NUL. Server: four 8-byte numbers (Answer).
///
/// A compile is Compile, then Ended. Compiles of one module that differ only
/// in their policy can share the work before the first decision: Share, then
/// Ready; for each compile Finish, then Ended; finally Release, then
/// Released. If the answer to Share is Released, the module has no decision
/// and must be compiled with Compile.

#ifndef MLGO_DEVELOPMENT_SERVER_PROTOCOL_H
#define MLGO_DEVELOPMENT_SERVER_PROTOCOL_H

#include <stdint.h>

#include <string>
#include <vector>

#include "development/confinement/limits.h"

namespace mlgo {

enum class RequestKind : char {
  Compile = 'C',
  /// `Arguments`: a command that writes its object to stdout, or to /dev/null
  /// if only its log is requested.
  Share = 'S',
  Finish = 'F',  ///< `Arguments`: the name of the object
  Release = 'R', ///< no further data
  Kill = 'K',    ///< no further data: kills the running compile
};

struct Request {
  RequestKind Kind = RequestKind::Kill;
  ResourceLimits Limits = {};
  std::string Directory;
  /// Of cc1; the first is the program's name.
  std::vector<std::string> Arguments;
  /// Owned descriptor that becomes the compiler's stderr.
  int Messages = -1;
};

enum class AnswerKind : int64_t {
  Ended = 1,
  Ready = 2,    ///< status 0; the time is that of the shared work
  Released = 3, ///< the shared process has ended, on request or by itself
};

struct Answer {
  AnswerKind Kind;
  int64_t Status;          ///< as of wait(2)
  int64_t CpuMicroseconds; ///< user + system time of the compiler
  int64_t PeakKilobytes;   ///< of its memory
};

enum class Received { Request, End };

/// Reads one request. Data that is not a request counts as the end of the
/// stream: such a client must not get an answer.
Received receive(int Socket, Request *Asked);

/// Returns false if the client is gone.
bool send(int Socket, const Answer &Given);

} // namespace mlgo

#endif // MLGO_DEVELOPMENT_SERVER_PROTOCOL_H
