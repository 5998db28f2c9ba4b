// limited_exec PARENT CPU_SECONDS ADDRESS_SPACE_BYTES FILE_BYTES PROGRAM ARGUMENTS...
//
// Becomes PROGRAM inside resource limits, and dies with the process that asked for it. Python could set limits between
// fork and exec only by copying the page tables of a process with TensorFlow in it; this starts through vfork.
// Exit code 127 and one line on stderr when PROGRAM cannot be started.

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <unistd.h>

namespace {

bool Limit(int resource, const char *text, rlim_t grace) {
  char *end = nullptr;
  errno = 0;
  const unsigned long long value = strtoull(text, &end, 10);
  if (errno || end == text || *end) return false;
  // Never above what we were given ourselves.
  rlimit limit;
  if (getrlimit(resource, &limit)) return false;
  const rlim_t hard = value + grace;
  if (limit.rlim_max == RLIM_INFINITY || hard < limit.rlim_max) limit.rlim_max = hard;
  limit.rlim_cur = value < limit.rlim_max ? value : limit.rlim_max;
  return setrlimit(resource, &limit) == 0;
}

}  // namespace

int main(int argc, char **argv) {
  if (argc < 6) {
    fputs("usage: limited_exec PARENT CPU_SECONDS ADDRESS_SPACE_BYTES FILE_BYTES PROGRAM ARGUMENTS...\n", stderr);
    return 127;
  }
  // The parent may have died before prctl; then no signal would end this process.
  if (prctl(PR_SET_PDEATHSIG, SIGKILL) || getppid() != static_cast<pid_t>(atoi(argv[1]))) {
    fputs("limited_exec: the process that started this is gone\n", stderr);
    return 127;
  }
  const rlimit no_core = {0, 0};
  setrlimit(RLIMIT_CORE, &no_core);
  // SIGXCPU at the limit, SIGKILL five seconds later for a program which ignores it.
  if (!Limit(RLIMIT_CPU, argv[2], 5) || !Limit(RLIMIT_AS, argv[3], 0) || !Limit(RLIMIT_FSIZE, argv[4], 0)) {
    fprintf(stderr, "limited_exec: cannot set limits %s %s %s: %s\n", argv[2], argv[3], argv[4], strerror(errno));
    return 127;
  }
  execv(argv[5], argv + 5);
  fprintf(stderr, "limited_exec: cannot start %s: %s\n", argv[5], strerror(errno));
  return 127;
}
