// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

/// \file
/// The protocol between the compile server and its client
/// (mlgo/compiler/server.py), over a stream socket.
///
/// Client: 4 bytes, the payload's length, little-endian, with a descriptor for
/// the compiler's messages if the order needs one. Then the payload: a letter
/// (Order) and, depending on the order, three 8-byte numbers (CPU seconds,
/// bytes of address space, bytes of a file), the directory and the arguments,
/// each followed by a NUL.
/// Server: four 8-byte numbers (Answer).
///
/// A compile is kCompile, then kEnded. Compiles of one module that differ only
/// in their policy can share the work before the first decision: kShare, then
/// kReady; for each compile kFinish, then kEnded; finally kRelease, then
/// kReleased. If the answer to kShare is kReleased, the module has no decision
/// and must be compiled with kCompile.

#ifndef MLGO_DEVELOPMENT_SERVER_PROTOCOL_H
#define MLGO_DEVELOPMENT_SERVER_PROTOCOL_H

#include <stdint.h>

#include <string>
#include <vector>

#include "development/confinement/limits.h"

namespace mlgo {

enum class Order : char {
  kCompile = 'C',
  /// `arguments`: a command that writes its object to stdout, or to /dev/null
  /// if only its log is requested.
  kShare = 'S',
  kFinish = 'F',  ///< `arguments`: the name of the object
  kRelease = 'R', ///< no further data
  kKill = 'K',    ///< no further data: kills the running compile
};

struct Request {
  Order order = Order::kKill;
  Limits limits = {};
  std::string directory;
  /// Of cc1; the first is the program's name.
  std::vector<std::string> arguments;
  /// Owned descriptor that becomes the compiler's stderr.
  int messages = -1;
};

enum class Event : int64_t {
  kEnded = 1,
  kReady = 2,    ///< status 0; the time is that of the shared work
  kReleased = 3, ///< the shared process has ended, on request or by itself
};

struct Answer {
  Event event;
  int64_t status;           ///< as of wait(2)
  int64_t cpu_microseconds; ///< user + system time of the compiler
  int64_t peak_kilobytes;   ///< of its memory
};

enum class Received { kRequest, kEnd };

/// Reads one request. Data that is not a request counts as the end of the
/// stream: such a client must not get an answer.
Received Receive(int socket, Request *request);

/// Returns false if the client is gone.
bool Send(int socket, const Answer &answer);

} // namespace mlgo

#endif // MLGO_DEVELOPMENT_SERVER_PROTOCOL_H
