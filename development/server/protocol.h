// What a compile server and its client say to each other, over a stream socket. mlgo/compiler/server.py is the
// other side.
//
// Client: 4 bytes, the payload's length, little-endian, with a descriptor for the compiler's messages where one is needed;
// then the payload: a letter (Order) and, unless the order has no more to say, three 8-byte numbers (CPU seconds, bytes of
// address space, bytes of a file), the directory and the arguments, each followed by a NUL.
// Server: four 8-byte numbers (Answer).
//
// A compile is kCompile, then kEnded. Several compiles of one module, which differ in nothing but their policy, can share what
// comes before the first decision: kShare, then kReady; for each of them kFinish, then kEnded; at last kRelease, then
// kReleased. When kShare is answered by kReleased, the module came to no decision, and is to be compiled as any other.

#ifndef MLGO_DEVELOPMENT_SERVER_PROTOCOL_H
#define MLGO_DEVELOPMENT_SERVER_PROTOCOL_H

#include <stdint.h>

#include <string>
#include <vector>

namespace mlgo {

enum class Order : char {
  kCompile = 'C',
  kShare = 'S',    // `arguments`: a command which writes its object to stdout; to /dev/null when only its log is wanted
  kFinish = 'F',   // `arguments`: the name of the object
  kRelease = 'R',  // says nothing more
  kKill = 'K',     // the same: ends what is under way
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
  kReady = 2,     // status 0; what is shared has taken so much time
  kReleased = 3,  // what was shared is gone: on demand, or because it ended
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
