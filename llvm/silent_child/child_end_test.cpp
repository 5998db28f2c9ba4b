// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

/// \file
/// What ended a child: itself, or the machine.

#include "Check.h"
#include "ChildEnd.h"

#include <csignal>
#include <functional>

#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

using namespace mlgo;

namespace {

/// The end of a child that does so.
ChildEnd after(const std::function<void()> &Does, std::string_view Sent = "") {
  const pid_t Child = fork();
  if (Child == 0) {
    const rlimit NoCore = {0, 0};
    setrlimit(RLIMIT_CORE, &NoCore);
    Does();
    _exit(Done);
  }
  int Status = 0;
  CHECK(waitpid(Child, &Status, 0) == Child);
  return endOf(Status, Sent);
}

void itsOwnEnds() {
  const ChildEnd Good = after([] {}), Lost = after([] { _exit(TryLost); });
  CHECK(Good.IsDone && Good.OfMachine.empty());
  CHECK(!Lost.IsDone && Lost.OfMachine.empty());
}

void signalsAreOfTheMachine() {
  for (const int Signal :
       {SIGKILL, SIGTERM, SIGXCPU, SIGSEGV, SIGSYS, SIGXFSZ, SIGINT}) {
    const ChildEnd End = after([=] { raise(Signal); });
    CHECK(!End.IsDone);
    CHECK(End.OfMachine.find("a copy was ended by signal " +
                             std::to_string(Signal) + " (") == 0);
  }
}

void aLimitOfCpuTimeIsOfTheMachine() {
  const ChildEnd End = after([] {
    const rlimit Least = {0, 1};
    setrlimit(RLIMIT_CPU, &Least);
    for (volatile unsigned Number = 0;; ++Number)
      ;
  });
  CHECK(!End.IsDone && End.OfMachine.find("signal") != std::string::npos);
}

void whatTheChildSaysOfTheMachine() {
  CHECK(after([] { _exit(MachineFailed); }, "fork: no").OfMachine ==
        "fork: no");
  for (const int Status : {int(MachineFailed), int(MemoryExhausted),
                           int(StackExhausted), int(PipeBroken), 7}) {
    const ChildEnd End = after([=] { _exit(Status); });
    CHECK(!End.IsDone && !End.OfMachine.empty());
  }
}

void messagesAboutTheMachine() {
  for (const char *const Message :
       {"IO failure on output stream: No space left on device",
        "x: Too many open files", "LLVM ERROR: out of memory",
        "cannot open y: Cannot allocate memory"})
    CHECK(isAboutMachine(Message));
  for (const char *const Message :
       {"", "ran out of registers during register allocation",
        "Cannot select: intrinsic", "x: No such file or directory"})
    CHECK(!isAboutMachine(Message));
}

} // namespace

int main() {
  itsOwnEnds();
  signalsAreOfTheMachine();
  aLimitOfCpuTimeIsOfTheMachine();
  whatTheChildSaysOfTheMachine();
  messagesAboutTheMachine();
}
