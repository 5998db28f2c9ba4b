// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

/// \file
/// Fuzzing target of development/server/protocol.cpp: any bytes, with any
/// number of descriptors beside them, are received without a memory error, and
/// each descriptor has one owner afterwards.
///
/// The input's first byte says how many descriptors come with the first part
/// (its low two bits), and whether the right length is put before the payload
/// (the third bit). The second byte is the length of the first part. The rest
/// is what the client sends.

#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <unistd.h>

#include <vector>

#include "development/server/protocol.cpp"

namespace {

/// Less than a socket holds: the writer must not wait for the reader, which is
/// the same thread.
constexpr size_t kMaxBytes = 64 << 10;
constexpr uint8_t kMaxDescriptors = 3;
constexpr uint8_t kWithLength = 4;
/// More than this target ever has at once.
constexpr int kFirstDescriptors = 32;

void Require(bool holds, const char *claim) {
  if (holds)
    return;
  fprintf(stderr, "violated: %s\n", claim);
  abort();
}

/// How many descriptors this process has among the first ones; a leak shows
/// here.
int OpenDescriptors() {
  int open = 0;
  for (int descriptor = 0; descriptor < kFirstDescriptors; ++descriptor)
    open += fcntl(descriptor, F_GETFD) >= 0;
  return open;
}

void SendPart(int socket, const uint8_t *bytes, size_t count, int descriptors) {
  if (!count)
    return;
  iovec part = {const_cast<uint8_t *>(bytes), count};
  alignas(cmsghdr) char control[CMSG_SPACE(kMaxDescriptors * sizeof(int))] = {};
  msghdr message = {};
  message.msg_iov = &part;
  message.msg_iovlen = 1;
  if (descriptors) {
    message.msg_control = control;
    message.msg_controllen = CMSG_SPACE(descriptors * sizeof(int));
    cmsghdr *header = CMSG_FIRSTHDR(&message);
    header->cmsg_level = SOL_SOCKET;
    header->cmsg_type = SCM_RIGHTS;
    header->cmsg_len = CMSG_LEN(descriptors * sizeof(int));
    const int sent[kMaxDescriptors] = {STDERR_FILENO, STDERR_FILENO,
                                       STDERR_FILENO};
    memcpy(CMSG_DATA(header), sent, descriptors * sizeof(int));
  }
  Require(sendmsg(socket, &message, MSG_NOSIGNAL) ==
              static_cast<ssize_t>(count),
          "the client sends");
}

bool NeedsMessages(mlgo::Order order) {
  return order == mlgo::Order::kCompile || order == mlgo::Order::kShare ||
         order == mlgo::Order::kFinish;
}

void ReceiveAll(int socket) {
  mlgo::Request request;
  while (mlgo::Receive(socket, &request) == mlgo::Received::kRequest) {
    Require((request.messages >= 0) == NeedsMessages(request.order),
            "a descriptor comes with orders that need one");
    if (!NeedsMessages(request.order))
      continue;
    Require(!request.arguments.empty(), "a request has arguments");
    Require(strlen(request.directory.c_str()) == request.directory.size(),
            "a directory has no NUL");
    for (const std::string &argument : request.arguments)
      Require(strlen(argument.c_str()) == argument.size(),
              "an argument has no NUL");
    close(request.messages);
  }
  Require(request.messages < 0,
          "no descriptor belongs to data that is no request");
}

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  if (size < 2 || size - 2 > kMaxBytes)
    return 0;
  const int before = OpenDescriptors();
  int ends[2];
  Require(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) == 0,
          "there is a socket");
  std::vector<uint8_t> sent;
  if (data[0] & kWithLength)
    for (int shift = 0; shift < 32; shift += 8)
      sent.push_back(static_cast<uint8_t>((size - 2) >> shift));
  sent.insert(sent.end(), data + 2, data + size);
  const size_t first = data[1] < sent.size() ? data[1] : sent.size();
  SendPart(ends[0], sent.data(), first, data[0] & kMaxDescriptors);
  SendPart(ends[0], sent.data() + first, sent.size() - first, 0);
  close(ends[0]);
  ReceiveAll(ends[1]);
  close(ends[1]);
  Require(OpenDescriptors() == before, "no descriptor is left open");
  return 0;
}
