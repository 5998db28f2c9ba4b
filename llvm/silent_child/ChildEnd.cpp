// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "ChildEnd.h"

#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <cstring>
#include <iterator>
#include <system_error>

#include <sys/resource.h>
#include <sys/wait.h>
#include <ucontext.h>

namespace mlgo {
namespace {

/// More than the frame of any function of LLVM.
constexpr uint64_t LargestFrame = 1 << 20;

std::string stackLimit() {
  rlimit Limit;
  if (getrlimit(RLIMIT_STACK, &Limit) < 0 || Limit.rlim_cur == RLIM_INFINITY)
    return "";
  return " of " + std::to_string(Limit.rlim_cur / 1024) + " KiB (ulimit -s)";
}

bool contains(std::string_view Text, std::string_view Part) {
  return Text.find(Part) != std::string_view::npos;
}

} // namespace

ChildEnd endOf(int Status, std::string_view Sent) {
  if (WIFSIGNALED(Status)) {
    const int Signal = WTERMSIG(Status);
    return {false, "a copy was ended by signal " + std::to_string(Signal) +
                       " (" + strsignal(Signal) +
                       "), which the kernel or another process sent"};
  }
  switch (WEXITSTATUS(Status)) {
  case Done:
    return {true};
  case TryLost:
    return {false};
  case MachineFailed:
    return {false, Sent.empty() ? "a copy failed and could not say why"
                                : std::string(Sent)};
  case MemoryExhausted:
    return {false, "a copy ran out of memory (see ulimit -v)"};
  case StackExhausted:
    return {false, "a copy ran out of its stack" + stackLimit()};
  case PipeBroken:
    return {false, "a copy could not send its result"};
  default:
    return {false, "a copy ended with the unknown status " +
                       std::to_string(WEXITSTATUS(Status))};
  }
}

bool isAboutMachine(std::string_view Message) {
  constexpr int Errors[] = {EAGAIN,  EDQUOT, EFBIG,  EIO,   EMFILE, ENFILE,
                            ENOBUFS, ENOMEM, ENOSPC, EROFS, EPERM};
  return contains(Message, "out of memory") ||
         std::any_of(std::begin(Errors), std::end(Errors), [&](int Error) {
           return contains(Message, std::generic_category().message(Error));
         });
}

bool isBelowStack(const void *Address, const void *Context) {
  const mcontext_t &Machine =
      static_cast<const ucontext_t *>(Context)->uc_mcontext;
  const uint64_t Stack = Machine.gregs[REG_RSP];
  const uint64_t At = reinterpret_cast<uintptr_t>(Address);
  return At + LargestFrame >= Stack && At <= Stack + LargestFrame;
}

} // namespace mlgo
