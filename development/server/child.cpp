// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "development/server/child.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "development/confinement/limits.h"

namespace mlgo {
namespace {

/// As in mlgo/compiler/limited_exec.cc.
constexpr int CannotStart = 127;

constexpr int MillisecondsBetweenQuestions = 5;

/// Whether the child can be reaped, which this does not do.
bool hasEnded(pid_t Child) {
  siginfo_t Info = {};
  while (waitid(P_PID, static_cast<id_t>(Child), &Info,
                WEXITED | WNOHANG | WNOWAIT) < 0)
    if (errno != EINTR)
      return true;
  return Info.si_pid == Child;
}

bool enter(const Request &Asked, const Sandbox &Walls, pid_t Parent) {
  setsid();
  if (prctl(PR_SET_PDEATHSIG, SIGKILL) || getppid() != Parent)
    return false; // orphaned before prctl
  if (dup2(Asked.Messages, STDERR_FILENO) < 0)
    return false;
  close(Asked.Messages);
  if (chdir(Asked.Directory.c_str()) ||
      setenv("TMPDIR", Asked.Directory.c_str(), 1)) {
    dprintf(STDERR_FILENO, "compile server: cannot work in %s: %s\n",
            Asked.Directory.c_str(), strerror(errno));
    return false;
  }
  if (!setLimits(Asked.Limits)) {
    dprintf(STDERR_FILENO, "compile server: cannot set limits: %s\n",
            strerror(errno));
    return false;
  }
  if (const char *Failed = confineToCurrentDirectory(Walls, nullptr)) {
    dprintf(STDERR_FILENO, "compile server: cannot confine a compile: %s: %s\n",
            Failed, strerror(errno));
    return false;
  }
  return true;
}

} // namespace

pid_t forkInto(const Request &Asked, const Sandbox &Walls) {
  const pid_t Parent = getpid();
  const pid_t Child = fork();
  if (Child == 0 && !enter(Asked, Walls, Parent))
    _exit(CannotStart);
  if (Child < 0)
    dprintf(Asked.Messages, "compile server: cannot fork: %s\n",
            strerror(errno));
  close(Asked.Messages);
  return Child;
}

bool waitAndReport(int Socket, pid_t Child, AnswerKind Kind, int TakenOver) {
  // Kernels before 5.3, filters of containers and full tables of descriptors
  // refuse it: then the child is asked about again and again.
  const int End = static_cast<int>(syscall(SYS_pidfd_open, Child, 0));
  bool Listening = true;
  int Heard = Socket;
  while (End >= 0 || !hasEnded(Child)) {
    pollfd Watched[] = {
        {End, POLLIN, 0}, {Heard, POLLIN, 0}, {TakenOver, POLLIN, 0}};
    const int Ready =
        poll(Watched, 3, End >= 0 ? -1 : MillisecondsBetweenQuestions);
    if (Ready < 0 && errno == EINTR)
      continue;
    if (Ready < 0) {
      // Whether the client is there cannot be heard any more.
      fprintf(stderr, "compile server: cannot poll: %s\n", strerror(errno));
      Listening = false;
      break;
    }
    if (Watched[0].revents)
      break;
    // Checked after the socket became readable: data that follows the child's
    // announcement belongs to the child.
    pollfd Announced = {TakenOver, POLLIN, 0};
    if (TakenOver >= 0 && poll(&Announced, 1, 0) > 0) {
      TakenOver = Heard = -1;
      continue;
    }
    if (!Watched[1].revents)
      continue;
    Request Asked;
    Listening = receive(Socket, &Asked) == Received::Request &&
                Asked.Kind == RequestKind::Kill;
    if (Asked.Messages >= 0)
      close(Asked.Messages);
    if (!Listening)
      Heard = -1;
    kill(-Child, SIGKILL);
    kill(Child, SIGKILL); // its group may not exist yet
  }
  if (End >= 0)
    close(End);
  // Before it is reaped: until then its number, which is the group's, is not
  // reused.
  kill(-Child, SIGKILL);
  int Status = 0;
  rusage Usage = {};
  while (wait4(Child, &Status, 0, &Usage) < 0 && errno == EINTR) {
  }
  return Listening &&
         send(Socket, {Kind, Status, cpuMicroseconds(Usage), Usage.ru_maxrss});
}

int64_t cpuMicroseconds(const rusage &Usage) {
  return (Usage.ru_utime.tv_sec + Usage.ru_stime.tv_sec) * int64_t{1000000} +
         Usage.ru_utime.tv_usec + Usage.ru_stime.tv_usec;
}

} // namespace mlgo
