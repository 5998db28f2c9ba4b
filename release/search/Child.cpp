#include "Child.h"
#include "SilentChild.h"

#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MemoryBuffer.h"

#include <cerrno>
#include <csignal>
#include <cstdlib>

#include <dirent.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

using namespace llvm;

namespace mlgo::search {
namespace {

// How a memory file's name in /proc begins (memfd_create(2)).
constexpr char MemoryFileName[] = "mlgo-search";

bool isMemoryFile(int Descriptor) {
  struct stat Status;
  // A memory file has no link in any folder.
  return fstat(Descriptor, &Status) == 0 && S_ISREG(Status.st_mode) && Status.st_nlink == 0 &&
         fcntl(Descriptor, F_GET_SEALS) >= 0;
}

// What the compiler has open for writing, such as its outputs, shares its position with this process's parent.
bool detachOpenFiles() {
  const int Nothing = open("/dev/null", O_RDWR | O_CLOEXEC);
  DIR *const Open = opendir("/proc/self/fd");
  if (Nothing < 0 || !Open)
    return false;
  while (const dirent *const Entry = readdir(Open)) {
    const int Descriptor = std::atoi(Entry->d_name);
    if (Entry->d_name[0] == '.' || Descriptor == Nothing || Descriptor == dirfd(Open) || isMemoryFile(Descriptor))
      continue;
    const int Flags = fcntl(Descriptor, F_GETFL);
    const bool IsWritable = Flags >= 0 && (Flags & O_ACCMODE) != O_RDONLY;
    if ((IsWritable || Descriptor <= STDERR_FILENO) && dup2(Nothing, Descriptor) < 0)
      return false;
  }
  closedir(Open);
  return true;
}

} // namespace

MemoryFile::MemoryFile() : Descriptor(memfd_create(MemoryFileName, MFD_CLOEXEC)) {}

MemoryFile::~MemoryFile() {
  if (isOpen())
    close(Descriptor);
}

std::string MemoryFile::path() const { return "/proc/self/fd/" + std::to_string(Descriptor); }

bool MemoryFile::write(StringRef Content) { return writeAll(Descriptor, Content); }

std::unique_ptr<MemoryBuffer> MemoryFile::content() const {
  struct stat Status;
  if (fstat(Descriptor, &Status) != 0)
    return nullptr;
  auto Content = MemoryBuffer::getOpenFile(sys::fs::convertFDToNativeFile(Descriptor), MemoryFileName, Status.st_size,
                                           /*RequiresNullTerminator=*/false);
  return Content ? std::move(*Content) : nullptr;
}

bool succeedsInChild(unique_function<bool()> Work) {
  // A process that ignores the signal cannot wait.
  const auto OnChildsEnd = std::signal(SIGCHLD, SIG_DFL);
  const pid_t Parent = getpid();
  const pid_t Child = fork();
  if (Child == 0) {
    dieSilently();
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    // The parent may have ended before the line above.
    if (getppid() != Parent || !detachOpenFiles())
      _exit(EXIT_FAILURE);
    _exit(Work() ? EXIT_SUCCESS : EXIT_FAILURE);
  }
  int Status = 0;
  pid_t Ended = Child;
  while (Child > 0 && (Ended = waitpid(Child, &Status, 0)) < 0 && errno == EINTR)
    ;
  std::signal(SIGCHLD, OnChildsEnd);
  return Child > 0 && Ended == Child && WIFEXITED(Status) && WEXITSTATUS(Status) == EXIT_SUCCESS;
}

} // namespace mlgo::search
