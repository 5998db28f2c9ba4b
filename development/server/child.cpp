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
constexpr int kCannotStart = 127;

constexpr int kMillisecondsBetweenQuestions = 5;

/// Whether the child can be reaped, which this does not do.
bool HasEnded(pid_t child) {
  siginfo_t info = {};
  while (waitid(P_PID, static_cast<id_t>(child), &info,
                WEXITED | WNOHANG | WNOWAIT) < 0)
    if (errno != EINTR)
      return true;
  return info.si_pid == child;
}

bool Enter(const Request &request, const Walls &walls, pid_t parent) {
  setsid();
  if (prctl(PR_SET_PDEATHSIG, SIGKILL) || getppid() != parent)
    return false; // orphaned before prctl
  if (dup2(request.messages, STDERR_FILENO) < 0)
    return false;
  close(request.messages);
  if (chdir(request.directory.c_str()) ||
      setenv("TMPDIR", request.directory.c_str(), 1)) {
    dprintf(STDERR_FILENO, "compile server: cannot work in %s: %s\n",
            request.directory.c_str(), strerror(errno));
    return false;
  }
  if (!SetLimits(request.limits)) {
    dprintf(STDERR_FILENO, "compile server: cannot set limits: %s\n",
            strerror(errno));
    return false;
  }
  if (const char *failed = ConfineToCurrentDirectory(walls, nullptr)) {
    dprintf(STDERR_FILENO, "compile server: cannot confine a compile: %s: %s\n",
            failed, strerror(errno));
    return false;
  }
  return true;
}

} // namespace

pid_t ForkInto(const Request &request, const Walls &walls) {
  const pid_t parent = getpid();
  const pid_t child = fork();
  if (child == 0 && !Enter(request, walls, parent))
    _exit(kCannotStart);
  if (child < 0)
    dprintf(request.messages, "compile server: cannot fork: %s\n",
            strerror(errno));
  close(request.messages);
  return child;
}

bool WaitAndReport(int socket, pid_t child, Event event, int taken_over) {
  // Kernels before 5.3, filters of containers and full tables of descriptors
  // refuse it: then the child is asked about again and again.
  const int end = static_cast<int>(syscall(SYS_pidfd_open, child, 0));
  bool listening = true;
  int heard = socket;
  while (end >= 0 || !HasEnded(child)) {
    pollfd watched[] = {
        {end, POLLIN, 0}, {heard, POLLIN, 0}, {taken_over, POLLIN, 0}};
    const int ready =
        poll(watched, 3, end >= 0 ? -1 : kMillisecondsBetweenQuestions);
    if (ready < 0 && errno == EINTR)
      continue;
    if (ready < 0) {
      // Whether the client is there cannot be heard any more.
      fprintf(stderr, "compile server: cannot poll: %s\n", strerror(errno));
      listening = false;
      break;
    }
    if (watched[0].revents)
      break;
    // Checked after the socket became readable: data that follows the child's
    // announcement belongs to the child.
    pollfd announced = {taken_over, POLLIN, 0};
    if (taken_over >= 0 && poll(&announced, 1, 0) > 0) {
      taken_over = heard = -1;
      continue;
    }
    if (!watched[1].revents)
      continue;
    Request request;
    listening = Receive(socket, &request) == Received::kRequest &&
                request.order == Order::kKill;
    if (request.messages >= 0)
      close(request.messages);
    if (!listening)
      heard = -1;
    kill(-child, SIGKILL);
    kill(child, SIGKILL); // its group may not exist yet
  }
  if (end >= 0)
    close(end);
  // Before it is reaped: until then its number, which is the group's, is not
  // reused.
  kill(-child, SIGKILL);
  int status = 0;
  rusage usage = {};
  while (wait4(child, &status, 0, &usage) < 0 && errno == EINTR) {
  }
  return listening &&
         Send(socket, {event, status, CpuMicroseconds(usage), usage.ru_maxrss});
}

int64_t CpuMicroseconds(const rusage &usage) {
  return (usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) * int64_t{1000000} +
         usage.ru_utime.tv_usec + usage.ru_stime.tv_usec;
}

} // namespace mlgo
