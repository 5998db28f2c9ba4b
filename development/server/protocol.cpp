// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "development/server/protocol.h"

#include <errno.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

namespace mlgo {
namespace {

/// Upper limit of a request; a command has a few kilobytes.
constexpr uint32_t kMaxPayloadBytes = 16 << 20;
constexpr size_t kLimitsBytes = 3 * sizeof(uint64_t);

/// Reads all of `bytes` and keeps the last descriptor that was sent with them,
/// if any.
bool ReadAll(int socket, char *bytes, size_t count, int *descriptor) {
  while (count) {
    iovec part = {bytes, count};
    alignas(cmsghdr) char control[CMSG_SPACE(sizeof(int))];
    msghdr message = {};
    message.msg_iov = &part;
    message.msg_iovlen = 1;
    message.msg_control = control;
    // Without the padding of CMSG_SPACE, in which the kernel would put a second
    // descriptor that is never closed.
    message.msg_controllen = CMSG_LEN(sizeof(int));
    const ssize_t got = recvmsg(socket, &message, MSG_CMSG_CLOEXEC);
    if (got < 0 && errno == EINTR)
      continue;
    if (got <= 0)
      return false;
    for (cmsghdr *header = CMSG_FIRSTHDR(&message); header;
         header = CMSG_NXTHDR(&message, header)) {
      if (header->cmsg_level != SOL_SOCKET || header->cmsg_type != SCM_RIGHTS)
        continue;
      if (*descriptor >= 0)
        close(*descriptor);
      memcpy(descriptor, CMSG_DATA(header), sizeof(int));
    }
    bytes += got;
    count -= static_cast<size_t>(got);
  }
  return true;
}

bool Parse(const std::string &payload, Request *request) {
  if (payload.empty())
    return false;
  request->order = static_cast<Order>(payload[0]);
  switch (request->order) {
  case Order::kRelease:
  case Order::kKill:
    return payload.size() == 1 && request->messages < 0;
  case Order::kCompile:
  case Order::kShare:
  case Order::kFinish:
    break;
  default:
    return false;
  }
  if (payload.size() < 1 + kLimitsBytes || payload.back() != '\0' ||
      request->messages < 0)
    return false;
  uint64_t limits[3];
  memcpy(limits, payload.data() + 1, kLimitsBytes);
  request->limits = {limits[0], limits[1], limits[2]};
  std::vector<std::string> texts;
  for (size_t begin = 1 + kLimitsBytes; begin < payload.size();
       begin += texts.back().size() + 1)
    texts.emplace_back(payload.c_str() + begin);
  if (texts.size() < 2)
    return false;
  request->directory = texts.front();
  request->arguments.assign(texts.begin() + 1, texts.end());
  return true;
}

} // namespace

Received Receive(int socket, Request *request) {
  uint32_t length = 0;
  request->messages = -1;
  std::string payload;
  bool good = ReadAll(socket, reinterpret_cast<char *>(&length), sizeof(length),
                      &request->messages) &&
              length <= kMaxPayloadBytes;
  if (good) {
    payload.resize(length);
    good = ReadAll(socket, payload.data(), length, &request->messages) &&
           Parse(payload, request);
  }
  if (good)
    return Received::kRequest;
  if (request->messages >= 0)
    close(request->messages);
  request->messages = -1;
  return Received::kEnd;
}

bool Send(int socket, const Answer &answer) {
  const char *bytes = reinterpret_cast<const char *>(&answer);
  for (size_t left = sizeof(answer); left;) {
    const ssize_t sent = send(socket, bytes, left, MSG_NOSIGNAL);
    if (sent < 0 && errno == EINTR)
      continue;
    if (sent <= 0)
      return false;
    bytes += sent;
    left -= static_cast<size_t>(sent);
  }
  return true;
}

} // namespace mlgo
