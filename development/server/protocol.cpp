// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "development/server/protocol.h"

#include <errno.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

namespace mlgo {
namespace {

/// Upper limit of a request; a command has a few kilobytes.
constexpr uint32_t MaxPayloadBytes = 16 << 20;
constexpr size_t LimitsBytes = 3 * sizeof(uint64_t);

/// Reads all of `Bytes` and keeps the last descriptor that was sent with them,
/// if any.
bool readAll(int Socket, char *Bytes, size_t Count, int *Descriptor) {
  while (Count) {
    iovec Part = {Bytes, Count};
    alignas(cmsghdr) char Control[CMSG_SPACE(sizeof(int))];
    msghdr Message = {};
    Message.msg_iov = &Part;
    Message.msg_iovlen = 1;
    Message.msg_control = Control;
    // Without the padding of CMSG_SPACE, in which the kernel would put a second
    // descriptor that is never closed.
    Message.msg_controllen = CMSG_LEN(sizeof(int));
    const ssize_t Got = recvmsg(Socket, &Message, MSG_CMSG_CLOEXEC);
    if (Got < 0 && errno == EINTR)
      continue;
    if (Got <= 0)
      return false;
    for (cmsghdr *Header = CMSG_FIRSTHDR(&Message); Header;
         Header = CMSG_NXTHDR(&Message, Header)) {
      if (Header->cmsg_level != SOL_SOCKET || Header->cmsg_type != SCM_RIGHTS)
        continue;
      if (*Descriptor >= 0)
        close(*Descriptor);
      memcpy(Descriptor, CMSG_DATA(Header), sizeof(int));
    }
    Bytes += Got;
    Count -= static_cast<size_t>(Got);
  }
  return true;
}

bool parse(const std::string &Payload, Request *Asked) {
  if (Payload.empty())
    return false;
  Asked->Kind = static_cast<RequestKind>(Payload[0]);
  switch (Asked->Kind) {
  case RequestKind::Release:
  case RequestKind::Kill:
    return Payload.size() == 1 && Asked->Messages < 0;
  case RequestKind::Compile:
  case RequestKind::Share:
  case RequestKind::Finish:
    break;
  default:
    return false;
  }
  if (Payload.size() < 1 + LimitsBytes || Payload.back() != '\0' ||
      Asked->Messages < 0)
    return false;
  uint64_t Limits[3];
  memcpy(Limits, Payload.data() + 1, LimitsBytes);
  Asked->Limits = {Limits[0], Limits[1], Limits[2]};
  std::vector<std::string> Texts;
  for (size_t Begin = 1 + LimitsBytes; Begin < Payload.size();
       Begin += Texts.back().size() + 1)
    Texts.emplace_back(Payload.c_str() + Begin);
  if (Texts.size() < 2)
    return false;
  Asked->Directory = Texts.front();
  Asked->Arguments.assign(Texts.begin() + 1, Texts.end());
  return true;
}

} // namespace

Received receive(int Socket, Request *Asked) {
  uint32_t Length = 0;
  Asked->Messages = -1;
  std::string Payload;
  bool Good = readAll(Socket, reinterpret_cast<char *>(&Length), sizeof(Length),
                      &Asked->Messages) &&
              Length <= MaxPayloadBytes;
  if (Good) {
    Payload.resize(Length);
    Good = readAll(Socket, Payload.data(), Length, &Asked->Messages) &&
           parse(Payload, Asked);
  }
  if (Good)
    return Received::Request;
  if (Asked->Messages >= 0)
    close(Asked->Messages);
  Asked->Messages = -1;
  return Received::End;
}

bool send(int Socket, const Answer &Given) {
  const char *Bytes = reinterpret_cast<const char *>(&Given);
  for (size_t Left = sizeof(Given); Left;) {
    const ssize_t Sent = ::send(Socket, Bytes, Left, MSG_NOSIGNAL);
    if (Sent < 0 && errno == EINTR)
      continue;
    if (Sent <= 0)
      return false;
    Bytes += Sent;
    Left -= static_cast<size_t>(Sent);
  }
  return true;
}

} // namespace mlgo
