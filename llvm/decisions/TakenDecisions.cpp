#include "TakenDecisions.h"
#include "DecisionFile.h"
#include "UsageError.h"

#include "llvm/Support/FileSystem.h"
#include "llvm/Support/raw_ostream.h"

#include <mutex>
#include <string>
#include <system_error>

using namespace llvm;

void mlgo::writeTaken(StringRef Path, StringRef Section) {
  static std::mutex Mutex;
  static std::string LastPath;
  const std::lock_guard<std::mutex> Lock(Mutex);
  const bool First = Path != LastPath;
  LastPath = Path.str();
  std::error_code Error;
  raw_fd_ostream File(Path, Error, First ? sys::fs::CD_CreateAlways : sys::fs::CD_OpenExisting, sys::fs::FA_Write,
                      First ? sys::fs::OF_None : sys::fs::OF_Append);
  if (!Error) {
    File << (First ? firstLine() : "") << Section;
    File.close();
    Error = File.error();
    File.clear_error();
  }
  if (Error)
    endWithUsageError("-mlgo-decisions-taken: cannot write " + Path + ": " + Error.message());
}
