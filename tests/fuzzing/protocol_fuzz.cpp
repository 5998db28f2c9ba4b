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
constexpr size_t MaxBytes = 64 << 10;
constexpr uint8_t MaxDescriptors = 3;
constexpr uint8_t WithLength = 4;
/// More than this target ever has at once.
constexpr int FirstDescriptors = 32;

void require(bool Holds, const char *Claim) {
  if (Holds)
    return;
  fprintf(stderr, "violated: %s\n", Claim);
  abort();
}

/// How many descriptors this process has among the first ones; a leak shows
/// here.
int openDescriptors() {
  int Open = 0;
  for (int Descriptor = 0; Descriptor < FirstDescriptors; ++Descriptor)
    Open += fcntl(Descriptor, F_GETFD) >= 0;
  return Open;
}

void sendPart(int Socket, const uint8_t *Bytes, size_t Count, int Descriptors) {
  if (!Count)
    return;
  iovec Part = {const_cast<uint8_t *>(Bytes), Count};
  alignas(cmsghdr) char Control[CMSG_SPACE(MaxDescriptors * sizeof(int))] = {};
  msghdr Message = {};
  Message.msg_iov = &Part;
  Message.msg_iovlen = 1;
  if (Descriptors) {
    Message.msg_control = Control;
    Message.msg_controllen = CMSG_SPACE(Descriptors * sizeof(int));
    cmsghdr *Header = CMSG_FIRSTHDR(&Message);
    Header->cmsg_level = SOL_SOCKET;
    Header->cmsg_type = SCM_RIGHTS;
    Header->cmsg_len = CMSG_LEN(Descriptors * sizeof(int));
    const int Sent[MaxDescriptors] = {STDERR_FILENO, STDERR_FILENO,
                                      STDERR_FILENO};
    memcpy(CMSG_DATA(Header), Sent, Descriptors * sizeof(int));
  }
  require(sendmsg(Socket, &Message, MSG_NOSIGNAL) ==
              static_cast<ssize_t>(Count),
          "the client sends");
}

bool needsMessages(mlgo::RequestKind Kind) {
  return Kind == mlgo::RequestKind::Compile ||
         Kind == mlgo::RequestKind::Share || Kind == mlgo::RequestKind::Finish;
}

void receiveAll(int Socket) {
  mlgo::Request Asked;
  while (mlgo::receive(Socket, &Asked) == mlgo::Received::Request) {
    require((Asked.Messages >= 0) == needsMessages(Asked.Kind),
            "a descriptor comes with orders that need one");
    if (!needsMessages(Asked.Kind))
      continue;
    require(!Asked.Arguments.empty(), "a request has arguments");
    require(strlen(Asked.Directory.c_str()) == Asked.Directory.size(),
            "a directory has no NUL");
    for (const std::string &Argument : Asked.Arguments)
      require(strlen(Argument.c_str()) == Argument.size(),
              "an argument has no NUL");
    close(Asked.Messages);
  }
  require(Asked.Messages < 0,
          "no descriptor belongs to data that is no request");
}

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *Data, size_t Size) {
  if (Size < 2 || Size - 2 > MaxBytes)
    return 0;
  const int Before = openDescriptors();
  int Ends[2];
  require(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, Ends) == 0,
          "there is a socket");
  std::vector<uint8_t> Sent;
  if (Data[0] & WithLength)
    for (int Shift = 0; Shift < 32; Shift += 8)
      Sent.push_back(static_cast<uint8_t>((Size - 2) >> Shift));
  Sent.insert(Sent.end(), Data + 2, Data + Size);
  const size_t First = Data[1] < Sent.size() ? Data[1] : Sent.size();
  sendPart(Ends[0], Sent.data(), First, Data[0] & MaxDescriptors);
  sendPart(Ends[0], Sent.data() + First, Sent.size() - First, 0);
  close(Ends[0]);
  receiveAll(Ends[1]);
  close(Ends[1]);
  require(openDescriptors() == Before, "no descriptor is left open");
  return 0;
}
