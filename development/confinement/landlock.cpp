// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "development/confinement/landlock.h"

#include <fcntl.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace mlgo {
namespace {

/// From the kernel's include/uapi/linux/landlock.h; the system root's header is
/// older than the interface.
/// The same on all architectures.
constexpr long kCreateRuleset = 444, kAddRule = 445, kRestrictSelf = 446;
constexpr uint32_t kAskForVersion = 1;
constexpr int kRulePathBeneath = 1;

struct Ruleset {
  uint64_t files;
  uint64_t network; ///< since version 4
  uint64_t scoped;  ///< since version 6
};

struct __attribute__((packed)) PathBeneath {
  uint64_t allowed;
  int32_t parent;
};

enum FileRight : uint64_t {
  kExecute = 1 << 0,
  kWriteFile = 1 << 1,
  kRemoveFolder = 1 << 4,
  kRemoveFile = 1 << 5,
  kMakeCharacterDevice = 1 << 6,
  kMakeFolder = 1 << 7,
  kMakeRegularFile = 1 << 8,
  kMakeSocket = 1 << 9,
  kMakeFifo = 1 << 10,
  kMakeBlockDevice = 1 << 11,
  kMakeSymbolicLink = 1 << 12,
  /// Since version 2: link or move a file to another folder.
  kRefer = 1 << 13,
  kTruncate = 1 << 14,      ///< since version 3
  kDeviceControl = 1 << 15, ///< since version 5
};
constexpr uint64_t kBindAndConnectTcp = 0b11;
constexpr uint64_t kAbstractSocketsAndSignals = 0b11;

/// What a compiler does with its outputs and temporary files.
constexpr uint64_t kAllowedBelow = kWriteFile | kRemoveFolder | kRemoveFile |
                                   kMakeFolder | kMakeRegularFile | kRefer |
                                   kTruncate;
constexpr uint64_t kAllowedOnNull = kWriteFile | kTruncate;

uint64_t HandledFiles(int version) {
  uint64_t rights = kExecute | kWriteFile | kRemoveFolder | kRemoveFile |
                    kMakeCharacterDevice | kMakeFolder | kMakeRegularFile |
                    kMakeSocket | kMakeFifo | kMakeBlockDevice |
                    kMakeSymbolicLink;
  if (version >= 2)
    rights |= kRefer;
  if (version >= 3)
    rights |= kTruncate;
  if (version >= 5)
    rights |= kDeviceControl;
  return rights;
}

size_t RulesetBytes(int version) {
  if (version >= 6)
    return sizeof(Ruleset);
  return version >= 4 ? offsetof(Ruleset, scoped) : offsetof(Ruleset, network);
}

bool Allow(int ruleset, uint64_t rights, int file) {
  const PathBeneath rule = {rights, file};
  return syscall(kAddRule, ruleset, kRulePathBeneath, &rule, 0) == 0;
}

bool AddRules(int ruleset, uint64_t handled, const FileAccess &access) {
  if (!Allow(ruleset, handled & kAllowedBelow, access.directory))
    return false;
  for (const int program : access.programs)
    if (!access.execute_all && program >= 0 &&
        !Allow(ruleset, kExecute, program))
      return false;
  const int null = open("/dev/null", O_PATH | O_CLOEXEC);
  if (null < 0)
    return true; // a chroot without devices
  const bool good = Allow(ruleset, handled & kAllowedOnNull, null);
  close(null);
  return good;
}

} // namespace

int LandlockVersion() {
  const long version = syscall(kCreateRuleset, nullptr, 0, kAskForVersion);
  return version > 0 ? static_cast<int>(version) : 0;
}

const char *RestrictFiles(int version, const FileAccess &access) {
  Ruleset handled = {HandledFiles(version), kBindAndConnectTcp,
                     kAbstractSocketsAndSignals};
  if (access.execute_all)
    handled.files &= ~uint64_t{kExecute};
  const int ruleset = static_cast<int>(
      syscall(kCreateRuleset, &handled, RulesetBytes(version), 0));
  if (ruleset < 0)
    return "landlock_create_ruleset";
  const char *failed = nullptr;
  if (!AddRules(ruleset, handled.files, access))
    failed = "landlock_add_rule";
  else if (syscall(kRestrictSelf, ruleset, 0))
    failed = "landlock_restrict_self";
  close(ruleset);
  return failed;
}

} // namespace mlgo
