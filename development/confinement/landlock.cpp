// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "development/confinement/landlock.h"

#include <fcntl.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace mlgo {
namespace {

/// From the kernel's include/uapi/linux/landlock.h, the same on all
/// architectures; the system root's header is older than the interface.
constexpr long CreateRuleset = 444, AddRule = 445, RestrictSelf = 446;
constexpr uint32_t AskForVersion = 1;
constexpr int RulePathBeneath = 1;

struct Ruleset {
  uint64_t Files;
  uint64_t Network; ///< since version 4
  uint64_t Scoped;  ///< since version 6
};

struct __attribute__((packed)) PathBeneath {
  uint64_t Allowed;
  int32_t Parent;
};

enum FileRight : uint64_t {
  Execute = 1 << 0,
  WriteFile = 1 << 1,
  RemoveFolder = 1 << 4,
  RemoveFile = 1 << 5,
  MakeCharacterDevice = 1 << 6,
  MakeFolder = 1 << 7,
  MakeRegularFile = 1 << 8,
  MakeSocket = 1 << 9,
  MakeFifo = 1 << 10,
  MakeBlockDevice = 1 << 11,
  MakeSymbolicLink = 1 << 12,
  /// Since version 2: link or move a file to another folder.
  Refer = 1 << 13,
  Truncate = 1 << 14,      ///< since version 3
  DeviceControl = 1 << 15, ///< since version 5
};
constexpr uint64_t BindAndConnectTcp = 0b11;
constexpr uint64_t AbstractSocketsAndSignals = 0b11;

/// What a compiler does with its outputs and temporary files.
constexpr uint64_t AllowedBelow = WriteFile | RemoveFolder | RemoveFile |
                                  MakeFolder | MakeRegularFile | Refer |
                                  Truncate;
constexpr uint64_t AllowedOnNull = WriteFile | Truncate;

uint64_t handledFiles(int Version) {
  uint64_t Rights = Execute | WriteFile | RemoveFolder | RemoveFile |
                    MakeCharacterDevice | MakeFolder | MakeRegularFile |
                    MakeSocket | MakeFifo | MakeBlockDevice | MakeSymbolicLink;
  if (Version >= 2)
    Rights |= Refer;
  if (Version >= 3)
    Rights |= Truncate;
  if (Version >= 5)
    Rights |= DeviceControl;
  return Rights;
}

size_t rulesetBytes(int Version) {
  if (Version >= 6)
    return sizeof(Ruleset);
  return Version >= 4 ? offsetof(Ruleset, Scoped) : offsetof(Ruleset, Network);
}

bool allow(int Ruleset, uint64_t Rights, int File) {
  const PathBeneath Rule = {Rights, File};
  return syscall(AddRule, Ruleset, RulePathBeneath, &Rule, 0) == 0;
}

bool addRules(int Ruleset, uint64_t Handled, const FileAccess &Access) {
  if (!allow(Ruleset, Handled & AllowedBelow, Access.Directory))
    return false;
  for (const int Program : Access.Programs)
    if (!Access.ExecuteAll && Program >= 0 && !allow(Ruleset, Execute, Program))
      return false;
  const int Null = open("/dev/null", O_PATH | O_CLOEXEC);
  if (Null < 0)
    return true; // a chroot without devices
  const bool Good = allow(Ruleset, Handled & AllowedOnNull, Null);
  close(Null);
  return Good;
}

} // namespace

int landlockVersion() {
  const long Version = syscall(CreateRuleset, nullptr, 0, AskForVersion);
  return Version > 0 ? static_cast<int>(Version) : 0;
}

const char *restrictFiles(int Version, const FileAccess &Access) {
  Ruleset Handled = {handledFiles(Version), BindAndConnectTcp,
                     AbstractSocketsAndSignals};
  if (Access.ExecuteAll)
    Handled.Files &= ~uint64_t{Execute};
  const int Ruleset = static_cast<int>(
      syscall(CreateRuleset, &Handled, rulesetBytes(Version), 0));
  if (Ruleset < 0)
    return "landlock_create_ruleset";
  const char *Failed = nullptr;
  if (!addRules(Ruleset, Handled.Files, Access))
    Failed = "landlock_add_rule";
  else if (syscall(RestrictSelf, Ruleset, 0))
    Failed = "landlock_restrict_self";
  close(Ruleset);
  return Failed;
}

} // namespace mlgo
