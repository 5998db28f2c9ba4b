// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "SilentChild.h"
#include "ChildEnd.h"
#include "OpenFiles.h"
#include "UsageError.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/ErrorHandling.h"

#include <cerrno>
#include <csignal>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <new>
#include <optional>
#include <utility>

#include <dirent.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/single_threaded.h>
#include <sys/wait.h>
#include <unistd.h>

using namespace llvm;

namespace mlgo {
namespace {

/// The child's ends of its pipes; -1: this process is no child, or is asked
/// nothing.
int ToParent = -1, FromParent = -1;

/// A crash may leave no room on the stack.
alignas(16) char StackOfHandler[1 << 16];

bool writeAll(int Descriptor, StringRef Content) {
  while (!Content.empty()) {
    const ssize_t Written = ::write(Descriptor, Content.data(), Content.size());
    if (Written < 0 && errno == EINTR)
      continue;
    if (Written <= 0)
      return false;
    Content = Content.drop_front(Written);
  }
  return true;
}

/// Ends the search, from either process. A child is a parent too if it
/// searches: its own parent ends the compile.
[[noreturn]] void endByMachine(StringRef Option, const Twine &What) {
  const std::string Sentence = What.str();
  if (ToParent >= 0) {
    writeAll(ToParent, Sentence);
    _exit(MachineFailed);
  }
  endWithUsageError(Option +
                    ": the search tries decisions in copies of the compiler, "
                    "and one could not be run or did "
                    "not end by itself: " +
                    Sentence +
                    ". Compile again with higher limits and less load on the "
                    "machine, or without the search (" +
                    Option + "=1)");
}

std::string failed(StringRef Call) {
  return (Call + ": " + std::strerror(errno)).str();
}

/// A copy of the process has a single thread: locks that others hold would stay
/// locked.
void requireOneThread(StringRef Option) {
  // Emulators of processors have threads of their own in /proc.
  if (__libc_single_threaded)
    return;
  DIR *const Threads = opendir("/proc/self/task");
  if (!Threads)
    endByMachine(Option, failed("opening /proc/self/task, to count threads"));
  unsigned Count = 0;
  errno = 0;
  while (const dirent *const Entry = readdir(Threads))
    Count += Entry->d_name[0] != '.';
  const int Error = errno;
  closedir(Threads);
  errno = Error;
  if (Error || !Count)
    endByMachine(Option, failed("reading /proc/self/task, to count threads"));
  if (Count > 1)
    endByMachine(Option,
                 "this process has " + Twine(Count) +
                     " threads, such as a linker's, and a copy would have one");
}

/// Both ends, or -1 for no pipe. Not a pair of sockets: a process that compiles
/// foreign code may have none (development/confinement).
struct Pipe {
  int ReadEnd = -1, WriteEnd = -1;
};

/// Pipes get the lowest free numbers, which are those of the standard streams
/// if a parent closed them.
int aboveStandardStreams(StringRef Option, int Descriptor) {
  const int Higher = fcntl(Descriptor, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
  if (Higher < 0)
    endByMachine(Option, failed("duplicating a pipe"));
  close(Descriptor);
  return Higher;
}

Pipe openPipe(StringRef Option) {
  int Ends[2];
  if (pipe2(Ends, O_CLOEXEC) != 0)
    endByMachine(Option, failed("pipe2"));
  return {aboveStandardStreams(Option, Ends[0]),
          aboveStandardStreams(Option, Ends[1])};
}

/// Allocators may abort, and code may crash, after an allocation that failed.
/// Safe in a signal handler.
[[noreturn]] void loseUnlessMemoryIsShort() {
  constexpr size_t MoreThanAllocatorsTakeAtOnce = 64 << 20;
  const void *const Room =
      mmap(nullptr, MoreThanAllocatorsTakeAtOnce, PROT_READ | PROT_WRITE,
           MAP_PRIVATE | MAP_ANONYMOUS, /*fd=*/-1, /*offset=*/0);
  _exit(Room == MAP_FAILED ? MemoryExhausted : TryLost);
}

void onCrash(int Signal, siginfo_t *Info, void *Context) {
  const bool IsFault = Info->si_code > 0,
             IsOwn = IsFault || Info->si_pid == getpid();
  if (Signal == SIGSEGV && IsFault && isBelowStack(Info->si_addr, Context))
    _exit(StackExhausted);
  if (IsOwn)
    loseUnlessMemoryIsShort();
  // The parent sees the signal that another process sent.
  std::signal(Signal, SIG_DFL);
  raise(Signal);
}

void onFatalError(void *, const char *Reason, bool) { loseTry(Reason); }
void onBadAlloc(void *, const char *, bool) { _exit(MemoryExhausted); }
void onFailingNew() { _exit(MemoryExhausted); }

/// LLVM's handlers of signals and fatal errors would remove the outputs of the
/// parent, and print.
void handleEndsSilently() {
  struct sigaction Action = {};
  Action.sa_handler = SIG_DFL;
  for (int Signal = 1; Signal < NSIG; ++Signal)
    sigaction(Signal, &Action, nullptr);
  stack_t Stack = {};
  Stack.ss_sp = StackOfHandler;
  Stack.ss_size = sizeof(StackOfHandler);
  if (sigaltstack(&Stack, nullptr) < 0)
    endByMachine("", failed("sigaltstack"));
  Action.sa_sigaction = onCrash;
  Action.sa_flags = SA_SIGINFO | SA_ONSTACK;
  for (const int Signal : {SIGSEGV, SIGILL, SIGFPE, SIGTRAP, SIGABRT})
    if (sigaction(Signal, &Action, nullptr) < 0)
      endByMachine("", failed("sigaction"));
  const rlimit NoCore = {0, 0};
  setrlimit(RLIMIT_CORE, &NoCore);
  remove_fatal_error_handler();
  install_fatal_error_handler(onFatalError);
  remove_bad_alloc_error_handler();
  install_bad_alloc_error_handler(onBadAlloc);
  std::set_new_handler(onFailingNew);
}

void becomeChild(pid_t Parent) {
  handleEndsSilently();
  if (prctl(PR_SET_PDEATHSIG, SIGKILL) < 0)
    endByMachine("", failed("prctl"));
  // The parent may have ended before the line above.
  if (getppid() != Parent)
    _exit(EXIT_FAILURE);
  if (const StringRef Failed = detachOpenFiles(ToParent); !Failed.empty())
    endByMachine("", failed(Failed));
}

/// Empty: an error, in errno.
std::optional<std::string> readAll(int Descriptor) {
  std::string Text;
  char Buffer[1 << 16];
  for (;;) {
    const ssize_t Read = ::read(Descriptor, Buffer, sizeof(Buffer));
    if (Read < 0 && errno == EINTR)
      continue;
    if (Read < 0)
      return std::nullopt;
    if (Read == 0)
      return Text;
    Text.append(Buffer, Read);
  }
}

/// A build may have started as many processes as it may have, some of which end
/// soon. Where that takes longer than two seconds in all, the compile ends.
pid_t forkOrWait() {
  constexpr useconds_t LongestPause = 1024 * 1000;
  for (useconds_t Pause = 1000;; Pause *= 2) {
    const pid_t Child = fork();
    if (Child >= 0 || errno != EAGAIN || Pause > LongestPause)
      return Child;
    usleep(Pause);
  }
}

/// Forks, with pipes of which each process keeps its own ends. 0: this is the
/// child.
pid_t forkWith(StringRef Option, Pipe Answers, Pipe Questions = {}) {
  const pid_t Parent = getpid();
  // A signal that comes before the child has its own handlers would run LLVM's:
  // they remove the parent's outputs.
  sigset_t All, Mask;
  sigfillset(&All);
  if (sigprocmask(SIG_SETMASK, &All, &Mask) < 0)
    endByMachine(Option, failed("sigprocmask"));
  const pid_t Child = forkOrWait();
  if (Child == 0) {
    close(Answers.ReadEnd);
    close(Questions.WriteEnd);
    ToParent = Answers.WriteEnd;
    FromParent = Questions.ReadEnd;
    becomeChild(Parent);
  }
  const std::string ForkFailed = failed("fork");
  sigprocmask(SIG_SETMASK, &Mask, nullptr);
  if (Child < 0)
    endByMachine(Option, ForkFailed);
  if (Child > 0) {
    close(Answers.WriteEnd);
    close(Questions.ReadEnd);
  }
  return Child;
}

/// Whether the child is done, and not lost. What the machine did to it ends the
/// compile.
bool waitFor(StringRef Option, pid_t Child, StringRef Sent) {
  int Status = 0;
  pid_t Ended;
  while ((Ended = waitpid(Child, &Status, 0)) < 0 && errno == EINTR)
    ;
  if (Ended != Child)
    endByMachine(Option, failed("waitpid"));
  const ChildEnd End = endOf(Status, Sent);
  if (!End.OfMachine.empty())
    endByMachine(Option, End.OfMachine);
  return End.IsDone;
}

/// Before the length of a message: no sentence of endByMachine begins so.
constexpr char FrameMark = '\0';
constexpr size_t BytesOfHead = 1 + sizeof(uint64_t);

bool writeFrame(int Descriptor, StringRef Content) {
  const uint64_t Size = Content.size();
  std::string Head(1, FrameMark);
  Head.append(reinterpret_cast<const char *>(&Size), sizeof(Size));
  return writeAll(Descriptor, Head) && writeAll(Descriptor, Content);
}

/// Reads up to `Size` bytes to the end of `Into`. Returns: whether there were
/// so many.
bool readMore(int Descriptor, std::string &Into, size_t Size) {
  const size_t Before = Into.size();
  Into.resize(Before + Size);
  size_t Done = 0;
  while (Done < Size) {
    const ssize_t Read = ::read(Descriptor, &Into[Before + Done], Size - Done);
    if (Read < 0 && errno == EINTR)
      continue;
    if (Read <= 0)
      break;
    Done += Read;
  }
  Into.resize(Before + Done);
  return Done == Size;
}

/// Empty: the other process has ended, or writes a sentence, which begins with
/// `Start`.
std::optional<std::string> readFrame(int Descriptor, std::string &Start) {
  if (!readMore(Descriptor, Start, BytesOfHead) || Start[0] != FrameMark)
    return std::nullopt;
  uint64_t Size = 0;
  std::memcpy(&Size, &Start[1], sizeof(Size));
  Start.clear();
  std::string Content;
  if (!readMore(Descriptor, Content, Size))
    return std::nullopt;
  return Content;
}

} // namespace

Forked forkSilently(StringRef Option) {
  requireOneThread(Option);
  const Pipe Answers = openPipe(Option);
  // A process that ignores the signal cannot wait.
  struct sigaction Default = {}, Before = {};
  Default.sa_handler = SIG_DFL;
  if (sigaction(SIGCHLD, &Default, &Before) < 0)
    endByMachine(Option, failed("sigaction"));
  const pid_t Child = forkWith(Option, Answers);
  if (Child == 0)
    return {true, std::nullopt};
  std::optional<std::string> Sent = readAll(Answers.ReadEnd);
  if (!Sent)
    endByMachine(Option, failed("reading from a copy"));
  close(Answers.ReadEnd);
  const bool IsDone = waitFor(Option, Child, *Sent);
  if (sigaction(SIGCHLD, &Before, nullptr) < 0)
    endByMachine(Option, failed("sigaction"));
  return {false, IsDone ? std::move(Sent) : std::nullopt};
}

AskedCopy::AskedCopy(StringRef Option) : Option(Option) {
  requireOneThread(Option);
  const Pipe Answers = openPipe(Option), Questions = openPipe(Option);
  Child = forkWith(Option, Answers, Questions);
  FromChild = Answers.ReadEnd;
  ToChild = Questions.WriteEnd;
}

std::optional<std::string> AskedCopy::answer() {
  if (HasEnded)
    return std::nullopt;
  std::string Start;
  std::optional<std::string> Message = readFrame(FromChild, Start);
  if (Message)
    return Message;
  std::optional<std::string> Rest = readAll(FromChild);
  if (!Rest)
    endByMachine(Option, failed("reading from a copy"));
  end(Start + *Rest);
  return std::nullopt;
}

void AskedCopy::ask(StringRef Question) {
  // Otherwise the copy has ended, which the next call of answer() sees.
  if (!HasEnded)
    writeFrame(ToChild, Question);
}

void AskedCopy::end(StringRef Sent) {
  close(ToChild);
  close(FromChild);
  HasEnded = true;
  waitFor(Option, Child, Sent);
}

AskedCopy::~AskedCopy() {
  if (Child != 0 && !HasEnded)
    end("");
}

std::string answerAndWait(StringRef Content) {
  if (!writeFrame(ToParent, Content))
    _exit(PipeBroken);
  std::string Start;
  if (std::optional<std::string> Question = readFrame(FromParent, Start))
    return std::move(*Question);
  _exit(Done);
}

void sendToParent(StringRef Content) {
  if (!writeAll(ToParent, Content))
    _exit(PipeBroken);
  _exit(Done);
}

void loseTry(StringRef Reason) {
  if (isAboutMachine(Reason))
    endByMachine("", Reason);
  loseUnlessMemoryIsShort();
}

} // namespace mlgo
