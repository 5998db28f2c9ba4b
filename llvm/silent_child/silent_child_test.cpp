// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

/// \file
/// Copies of a process that answer once, and those that answer several times.

#include "Check.h"
#include "SilentChild.h"

#include "llvm/ADT/StringRef.h"

#include <csignal>
#include <cstdlib>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <sys/wait.h>
#include <unistd.h>

using namespace llvm;
using namespace mlgo;

namespace {

constexpr StringRef Flag = "-an-option";
/// More than a pipe holds.
constexpr size_t Many = 1 << 20;

/// Zeros and the first byte of a message count as any other.
std::string anyBytes(size_t Count) {
  std::string Text(Count, '\0');
  for (size_t At = 0; At < Count; ++At)
    Text[At] = static_cast<char>(At * 7);
  return Text;
}

/// What a silent child sends that does so.
std::optional<std::string> sentBy(const std::function<std::string()> &Does) {
  const Forked Copy = forkSilently(Flag);
  if (Copy.IsChild)
    sendToParent(Does());
  return Copy.Sent;
}

/// In a silent child, the answers of a copy of it to some questions. The first
/// one comes without.
std::string answers(const std::function<void()> &InCopy,
                    const std::vector<std::string> &Questions) {
  AskedCopy Copy(Flag);
  if (Copy.isChild()) {
    InCopy();
    _exit(EXIT_FAILURE);
  }
  std::string All;
  const auto Add = [&] {
    const std::optional<std::string> Answer = Copy.answer();
    All += Answer ? "[" + *Answer + "]" : "lost;";
  };
  Add();
  for (const std::string &Question : Questions) {
    Copy.ask(Question);
    Add();
  }
  return All;
}

void whatAChildSends() {
  for (const size_t Count : {size_t(0), size_t(1), Many})
    CHECK(sentBy([=] { return anyBytes(Count); }) == anyBytes(Count));
}

void aLostTrySendsNothing() {
  CHECK(!sentBy([]() -> std::string { loseTry("cannot select"); }));
  CHECK(!sentBy([]() -> std::string { std::abort(); }));
}

void aCopyAnswersUntilItIsNotAsked() {
  const auto Echo = [] {
    std::string Question = answerAndWait("ready");
    for (;;)
      Question = answerAndWait("re: " + Question);
  };
  CHECK(sentBy([&] { return answers(Echo, {}); }) == "[ready]");
  CHECK(sentBy([&] { return answers(Echo, {"", "what?", anyBytes(Many)}); }) ==
        "[ready][re: ][re: what?][re: " + anyBytes(Many) + "]");
}

/// Afterwards nobody is asked.
void aCopyMayLoseItsTryAtAnyTime() {
  const auto AtOnce = [] { loseTry(); };
  const auto Later = [] {
    answerAndWait("ready");
    std::abort();
  };
  CHECK(sentBy([&] { return answers(AtOnce, {"a", "b"}); }) ==
        "lost;lost;lost;");
  CHECK(sentBy([&] { return answers(Later, {"a", "b"}); }) ==
        "[ready]lost;lost;");
}

void twoCopiesWaitAtOnce() {
  const auto Sent = sentBy([] {
    std::string All;
    std::vector<std::unique_ptr<AskedCopy>> Copies;
    for (const char *const Name : {"first", "second"}) {
      Copies.push_back(std::make_unique<AskedCopy>(Flag));
      if (Copies.back()->isChild()) {
        answerAndWait(std::string(Name) + answerAndWait(Name));
        _exit(EXIT_FAILURE);
      }
      All += *Copies.back()->answer();
    }
    for (const size_t Number : {1, 0}) {
      Copies[Number]->ask(" again ");
      All += *Copies[Number]->answer();
    }
    return All;
  });
  CHECK(Sent == "firstsecondsecond again first again ");
}

/// What a process prints that does so, and whether it ends with an error.
std::pair<std::string, bool> ended(const std::function<void()> &Does) {
  int Ends[2];
  CHECK(pipe(Ends) == 0);
  const pid_t Process = fork();
  if (Process == 0) {
    dup2(Ends[1], STDERR_FILENO);
    close(Ends[0]);
    close(Ends[1]);
    Does();
    _exit(EXIT_SUCCESS);
  }
  close(Ends[1]);
  std::string Said;
  char Buffer[4096];
  for (ssize_t Read; (Read = read(Ends[0], Buffer, sizeof(Buffer))) > 0;)
    Said.append(Buffer, Read);
  close(Ends[0]);
  int Status = 0;
  CHECK(waitpid(Process, &Status, 0) == Process);
  return {Said, WIFEXITED(Status) && WEXITSTATUS(Status) == 1};
}

void whatTheMachineEndsEndsTheCompile() {
  const auto Killed = [] { raise(SIGKILL); };
  const auto KilledLater = [] {
    answerAndWait("ready");
    raise(SIGKILL);
  };
  for (const std::function<void()> &InCopy :
       {std::function<void()>(Killed), std::function<void()>(KilledLater)}) {
    const auto [Said, Failed] =
        ended([&] { sentBy([&] { return answers(InCopy, {"a"}); }); });
    CHECK(Failed);
    CHECK(Said.find("-an-option: the search tries decisions in copies") !=
          std::string::npos);
    CHECK(Said.find("a copy was ended by signal 9 ") != std::string::npos);
  }
}

void aChildPrintsNothing() {
  const auto [Said, Failed] = ended([] {
    sentBy([] {
      (void)!write(STDERR_FILENO, "child", 5);
      return answers(
          [] {
            (void)!write(STDERR_FILENO, "copy", 4);
            answerAndWait("");
          },
          {});
    });
  });
  CHECK(Said.empty() && !Failed);
}

} // namespace

int main() {
  whatAChildSends();
  aLostTrySendsNothing();
  aCopyAnswersUntilItIsNotAsked();
  aCopyMayLoseItsTryAtAnyTime();
  twoCopiesWaitAtOnce();
  whatTheMachineEndsEndsTheCompile();
  aChildPrintsNothing();
}
