// What a compile server and its client say to each other, over a stream socket. mlgo/compiler/server.py is the
// other side.
//
// Client: 4 bytes, the payload's length, little-endian, with a descriptor for the compiler's messages where one is needed;
// then the payload: a letter (Order) and, for a compile, three 8-byte numbers (CPU seconds, bytes of address space, bytes
// of a file), the directory and the arguments, each followed by a NUL.
// Server: four 8-byte numbers (Answer).

#ifndef MLGO_DEVELOPMENT_SERVER_PROTOCOL_H
#define MLGO_DEVELOPMENT_SERVER_PROTOCOL_H

#include <stdint.h>

#include <string>
#include <vector>

namespace mlgo {

enum class Order : char {
  kCompile = 'C',
  kKill = 'K',
};

struct Request {
  Order order = Order::kKill;
  uint64_t cpu_seconds = 0;
  uint64_t address_space_bytes = 0;
  uint64_t file_bytes = 0;
  std::string directory;
  std::vector<std::string> arguments;  // of cc1, the program's name first
  int messages = -1;                   // a descriptor, owned: what becomes the compiler's stderr
};

enum class Event : int64_t {
  kEnded = 1,
};

struct Answer {
  Event event;
  int64_t status;            // as of wait(2)
  int64_t cpu_microseconds;  // user + system time of the compiler
  int64_t peak_kilobytes;    // of its memory
};

enum class Received { kRequest, kEnd };

// Reads one request. The end of the stream, and whatever is no request, is the end: a client that lost its way must not be
// answered.
Received Receive(int socket, Request *request);

// False when nobody listens any more.
bool Send(int socket, const Answer &answer);

}  // namespace mlgo

#endif  // MLGO_DEVELOPMENT_SERVER_PROTOCOL_H
