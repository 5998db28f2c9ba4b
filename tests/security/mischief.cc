// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

/// \file
/// mischief ACTION ARGUMENTS...
///
/// Attempts one harmful action, as a compiler could that has been taken over.
/// Exit code 0: it succeeded; 1: it was refused, and the error stands on
/// stderr; 2: misuse. tests/security/walls_test.py runs it inside the walls.

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/bpf.h>
#include <sched.h>
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/ptrace.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <sys/xattr.h>
#include <unistd.h>

namespace {

bool Writes(const char *path, int flags) {
  const int file = open(path, O_WRONLY | flags, 0666);
  return file >= 0 && write(file, "x", 1) == 1;
}

/// `execute` returns only on failure; in the child, whose end tells.
template <typename Execute> bool Executes(Execute execute) {
  int pipe_ends[2];
  if (pipe2(pipe_ends, O_CLOEXEC))
    return false;
  if (fork() == 0) {
    execute();
    const int error = errno;
    if (write(pipe_ends[1], &error, sizeof(error)) < 0)
      abort();
    _exit(1);
  }
  close(pipe_ends[1]);
  int error = 0;
  const bool refused = read(pipe_ends[0], &error, sizeof(error)) > 0;
  wait(nullptr);
  errno = error;
  return !refused;
}

/// The one execution that the filter lets through, but of another file: with
/// every descriptor, and a path that is not empty.
bool ExecutesAgain(char *path) {
  char *arguments[] = {path, nullptr};
  for (int descriptor = 3; descriptor < 64; ++descriptor) {
    if (dup2(STDIN_FILENO, descriptor) < 0)
      return false;
    if (Executes([&] {
          syscall(SYS_execveat, descriptor, path, arguments, environ,
                  AT_EMPTY_PATH);
        }))
      return true;
    close(descriptor);
  }
  return false;
}

bool ExecutesMemory(const char *path) {
  const int memory = memfd_create("program", 0), file = open(path, O_RDONLY);
  char bytes[65536];
  for (ssize_t got; (got = read(file, bytes, sizeof(bytes))) > 0;)
    if (write(memory, bytes, static_cast<size_t>(got)) != got)
      return false;
  char *const arguments[] = {const_cast<char *>(path), nullptr};
  return Executes([&] { fexecve(memory, arguments, environ); });
}

bool Connects(int kind, const char *port) {
  const int socket_ = socket(AF_INET, kind, 0);
  sockaddr_in address = {};
  address.sin_family = AF_INET;
  address.sin_port = htons(static_cast<uint16_t>(atoi(port)));
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  return socket_ >= 0 &&
         connect(socket_, reinterpret_cast<sockaddr *>(&address),
                 sizeof(address)) == 0 &&
         send(socket_, "x", 1, MSG_NOSIGNAL) == 1;
}

bool ConnectsAbstract(const char *name) {
  const int socket_ = socket(AF_UNIX, SOCK_STREAM, 0);
  sockaddr_un address = {};
  address.sun_family = AF_UNIX;
  strncpy(address.sun_path + 1, name, sizeof(address.sun_path) - 2);
  return socket_ >= 0 &&
         connect(socket_, reinterpret_cast<sockaddr *>(&address),
                 static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + 1 +
                                        strlen(name))) == 0;
}

bool MakesNamespace() {
  const pid_t child = static_cast<pid_t>(syscall(
      SYS_clone, CLONE_NEWUSER | SIGCHLD, nullptr, nullptr, nullptr, nullptr));
  if (child == 0)
    _exit(0);
  if (child > 0)
    waitpid(child, nullptr, 0);
  return child > 0;
}

bool LimitsOther(pid_t process) {
  const rlimit limit = {1000, 1000};
  return prlimit(process, RLIMIT_NOFILE, &limit, nullptr) == 0;
}

/// What a compiler needs: files and folders in its directory, /dev/null, other
/// threads' like clone, its own limits, signals to itself.
bool Works() {
  const rlimit no_core = {0, 0};
  if (mkdir("folder", 0777) || !Writes("folder/a", O_CREAT) ||
      rename("folder/a", "b") || truncate("b", 0) || unlink("b") ||
      rmdir("folder") || !Writes("/dev/null", O_TRUNC) ||
      setrlimit(RLIMIT_CORE, &no_core) || kill(getpid(), 0))
    return false;
  const pid_t child = fork();
  if (child == 0)
    _exit(7);
  int status = 0;
  return waitpid(child, &status, 0) == child && WEXITSTATUS(status) == 7 &&
         open("/proc/self/status", O_RDONLY) >= 0;
}

bool Attempt(const char *action, char **words, int count) {
  const auto is = [&](const char *name, int arguments) {
    return !strcmp(action, name) && count == arguments;
  };
  if (is("work", 0))
    return Works();
  if (is("write", 1))
    return Writes(words[0], O_CREAT);
  if (is("append", 1))
    return Writes(words[0], O_APPEND);
  if (is("truncate", 1))
    return truncate(words[0], 0) == 0;
  if (is("truncate_reading", 1))
    return open(words[0], O_RDONLY | O_TRUNC) >= 0;
  if (is("remove", 1))
    return unlink(words[0]) == 0;
  if (is("make_folder", 1))
    return mkdir(words[0], 0777) == 0;
  if (is("rename", 2))
    return rename(words[0], words[1]) == 0;
  if (is("link", 2))
    return link(words[0], words[1]) == 0;
  if (is("symlink", 2))
    return symlink(words[0], words[1]) == 0;
  if (is("fifo", 1))
    return mkfifo(words[0], 0666) == 0;
  if (is("chmod", 1))
    return chmod(words[0], 0777) == 0;
  if (is("touch", 1))
    return utimensat(AT_FDCWD, words[0], nullptr, 0) == 0;
  if (is("xattr", 1))
    return setxattr(words[0], "user.x", "x", 1, 0) == 0;
  if (is("execute", 1))
    return Executes([&] { execv(words[0], words); });
  if (is("execute_again", 1))
    return ExecutesAgain(words[0]);
  if (is("execute_memory", 1))
    return ExecutesMemory(words[0]);
  if (is("tcp", 1))
    return Connects(SOCK_STREAM, words[0]);
  if (is("udp", 1))
    return Connects(SOCK_DGRAM, words[0]);
  if (is("abstract", 1))
    return ConnectsAbstract(words[0]);
  if (is("kill", 1))
    return kill(atoi(words[0]), 0) == 0;
  if (is("trace", 1))
    return ptrace(PTRACE_SEIZE, atoi(words[0]), nullptr, nullptr) == 0;
  if (is("namespace", 0))
    return MakesNamespace();
  if (is("unshare", 0))
    return unshare(CLONE_NEWUSER) == 0;
  if (is("io_uring", 0)) {
    char parameters[120] = {};
    return syscall(SYS_io_uring_setup, 4, parameters) >= 0;
  }
  if (is("limits_of", 1))
    return LimitsOther(atoi(words[0]));
  if (is("shared_memory", 0))
    return syscall(SYS_shmget, 4242, 4096, 01600) >= 0;
  if (is("program_in_kernel", 0)) {
    bpf_attr attributes = {};
    attributes.map_type = BPF_MAP_TYPE_ARRAY;
    attributes.key_size = attributes.value_size = 4;
    attributes.max_entries = 1;
    return syscall(SYS_bpf, BPF_MAP_CREATE, &attributes, sizeof(attributes)) >=
           0;
  }
  fprintf(stderr, "mischief: no action %s with %d arguments\n", action, count);
  exit(2);
}

} // namespace

int main(int argc, char **argv) {
  if (argc < 2)
    return 2;
  if (Attempt(argv[1], argv + 2, argc - 2))
    return 0;
  fprintf(stderr, "refused: %s\n", strerror(errno));
  return 1;
}
