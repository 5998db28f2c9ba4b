// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "development/confinement/system_calls.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/sched.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace mlgo {
namespace {

/// The system root's headers do not have the last ones. The calls of x32 have a
/// high bit, so they count as newer.
constexpr uint32_t OpenTreeAttributes = 467, SetFileAttributes = 469,
                   SetXattrAt = 463, RemoveXattrAt = 466, Fchmodat2 = 452,
                   Cachestat = 451, LastKnown = SetFileAttributes;
static_assert(__NR_landlock_create_ruleset == 444 && Cachestat == 451,
              "another architecture");

constexpr uint32_t Forbidden[] = {
    // Network, also without TCP; and descriptors of others.
    __NR_socket,
    __NR_socketpair,
    __NR_connect,
    __NR_bind,
    __NR_listen,
    __NR_accept,
    __NR_accept4,
    __NR_pidfd_getfd,
    // Calls that the filter would not see.
    __NR_io_uring_setup,
    __NR_io_uring_enter,
    __NR_io_uring_register,
    // Memory of other processes.
    __NR_ptrace,
    __NR_process_vm_readv,
    __NR_process_vm_writev,
    __NR_process_madvise,
    __NR_process_mrelease,
    __NR_kcmp,
    // Attributes of files, which Landlock does not protect.
    __NR_fchmod,
    __NR_fchmodat,
    Fchmodat2,
    __NR_fchown,
    __NR_fchownat,
    __NR_utimensat,
    __NR_setxattr,
    __NR_lsetxattr,
    __NR_fsetxattr,
    __NR_removexattr,
    __NR_lremovexattr,
    __NR_fremovexattr,
    SetXattrAt,
    RemoveXattrAt,
    SetFileAttributes,
    __NR_mknodat,
    __NR_chmod,
    __NR_chown,
    __NR_lchown,
    __NR_utime,
    __NR_utimes,
    __NR_futimesat,
    __NR_mknod,
    // File systems and namespaces.
    __NR_mount,
    __NR_umount2,
    __NR_pivot_root,
    __NR_chroot,
    __NR_move_mount,
    __NR_open_tree,
    OpenTreeAttributes,
    __NR_fsopen,
    __NR_fsconfig,
    __NR_fsmount,
    __NR_fspick,
    __NR_mount_setattr,
    __NR_swapon,
    __NR_swapoff,
    __NR_quotactl,
    __NR_quotactl_fd,
    __NR_open_by_handle_at,
    __NR_name_to_handle_at,
    __NR_fanotify_init,
    __NR_fanotify_mark,
    __NR_unshare,
    __NR_setns,
    // Objects that outlive the process.
    __NR_shmget,
    __NR_semget,
    __NR_msgget,
    __NR_mq_open,
    __NR_mq_unlink,
    __NR_add_key,
    __NR_request_key,
    __NR_keyctl,
    // The kernel.
    __NR_bpf,
    __NR_perf_event_open,
    __NR_userfaultfd,
    __NR_kexec_load,
    __NR_kexec_file_load,
    __NR_init_module,
    __NR_finit_module,
    __NR_delete_module,
    __NR_reboot,
    __NR_acct,
    __NR_syslog,
    __NR_vhangup,
    __NR_sethostname,
    __NR_setdomainname,
    __NR_settimeofday,
    __NR_clock_settime,
    __NR_clock_adjtime,
    __NR_adjtimex,
    __NR_iopl,
    __NR_ioperm,
};

constexpr size_t ForbiddenCount = sizeof(Forbidden) / sizeof(Forbidden[0]);

struct Numbers {
  uint32_t Values[ForbiddenCount];
};

constexpr Numbers sorted() {
  Numbers Sorted = {};
  for (size_t Count = 0; Count < ForbiddenCount; ++Count) {
    size_t At = Count;
    for (; At > 0 && Sorted.Values[At - 1] > Forbidden[Count]; --At)
      Sorted.Values[At] = Sorted.Values[At - 1];
    Sorted.Values[At] = Forbidden[Count];
  }
  return Sorted;
}

constexpr Numbers Sorted = sorted();

constexpr uint32_t Namespaces = CLONE_NEWNS | CLONE_NEWCGROUP | CLONE_NEWUTS |
                                CLONE_NEWIPC | CLONE_NEWUSER | CLONE_NEWPID |
                                CLONE_NEWNET;

/// Writes a filter for the kernel's classic BPF machine.
class Filter {
public:
  /// \param Path the address of the string.
  constexpr Filter(Execution Allowed, int Descriptor, uint64_t Path) {
    load(offsetof(seccomp_data, arch));
    returnUnlessEqual(AUDIT_ARCH_X86_64, failure(ENOSYS));
    loadNumber();
    add(BPF_JMP | BPF_JGT | BPF_K, LastKnown, 0, 1);
    emitReturn(failure(ENOSYS));
    forbidListed();
    // The C library then uses clone, whose flags can be read.
    returnIfEqual(__NR_clone3, failure(ENOSYS));
    forbidNamespaces();
    forbidLimitsOfOthers();
    if (Allowed != Execution::Everything)
      forbidExecution(Allowed, Descriptor, Path);
    emitReturn(SECCOMP_RET_ALLOW);
  }

  const sock_fprog *program() {
    Program = {Count, Code};
    return &Program;
  }

private:
  static constexpr uint32_t failure(uint32_t Error) {
    return SECCOMP_RET_ERRNO | Error;
  }

  /// Offset of the lower half of an argument; the upper half follows.
  static constexpr uint32_t argument(uint32_t Index) {
    return static_cast<uint32_t>(offsetof(seccomp_data, args)) + 8 * Index;
  }

  constexpr void add(uint32_t Operation, uint32_t Value, uint8_t IfTrue = 0,
                     uint8_t IfFalse = 0) {
    Code[Count++] = {static_cast<uint16_t>(Operation), IfTrue, IfFalse, Value};
  }
  constexpr void load(uint32_t Offset) {
    add(BPF_LD | BPF_W | BPF_ABS, Offset);
  }
  constexpr void loadNumber() { load(offsetof(seccomp_data, nr)); }
  constexpr void emitReturn(uint32_t Action) { add(BPF_RET | BPF_K, Action); }
  constexpr void returnIfEqual(uint32_t Value, uint32_t Action) {
    add(BPF_JMP | BPF_JEQ | BPF_K, Value, 0, 1);
    emitReturn(Action);
  }
  constexpr void returnUnlessEqual(uint32_t Value, uint32_t Action) {
    add(BPF_JMP | BPF_JEQ | BPF_K, Value, 1, 0);
    emitReturn(Action);
  }

  /// The next `Instructions` are for the call `Number` only; they end with
  /// another loadNumber or a return.
  constexpr void skipUnlessCall(uint32_t Number, uint8_t Instructions) {
    add(BPF_JMP | BPF_JEQ | BPF_K, Number, 0, Instructions);
  }

  /// The kernel runs the filter once for each call when it is installed, to
  /// remember those that are always allowed, so the numbers are compared in
  /// blocks: 0.12 ms instead of 0.18.
  constexpr void forbidListed() {
    constexpr size_t BlockSize = 8,
                     Blocks = (ForbiddenCount + BlockSize - 1) / BlockSize;
    size_t Exits[Blocks] = {};
    for (size_t Block = 0; Block < Blocks; ++Block) {
      const size_t First = Block * BlockSize, Left = ForbiddenCount - First,
                   Size = Left < BlockSize ? Left : BlockSize;
      // Past this block's two instructions for each number and the jump.
      add(BPF_JMP | BPF_JGT | BPF_K, Sorted.Values[First + Size - 1],
          static_cast<uint8_t>(2 * Size + 1), 0);
      for (size_t Index = 0; Index < Size; ++Index)
        returnIfEqual(Sorted.Values[First + Index], failure(EPERM));
      Exits[Block] = Count;
      add(BPF_JMP | BPF_JA, 0);
    }
    for (const size_t Exit : Exits)
      Code[Exit].k = static_cast<uint32_t>(Count - Exit - 1);
  }

  constexpr void forbidNamespaces() {
    skipUnlessCall(__NR_clone, 4);
    load(argument(0));
    add(BPF_JMP | BPF_JSET | BPF_K, Namespaces, 0, 1);
    emitReturn(failure(EPERM));
    loadNumber();
  }

  constexpr void forbidLimitsOfOthers() {
    skipUnlessCall(__NR_prlimit64, 4);
    load(argument(0));
    returnUnlessEqual(0, failure(EPERM));
    loadNumber();
  }

  constexpr void forbidExecution(Execution Allowed, int Descriptor,
                                 uint64_t Path) {
    returnIfEqual(__NR_execve, failure(EPERM));
    if (Allowed == Execution::Nothing) {
      returnIfEqual(__NR_execveat, failure(EPERM));
      return;
    }
    // A path that is not empty would be executed instead of the descriptor,
    // hence the comparison of the pointer: the memory that it points to is gone
    // after the one execution.
    const struct {
      uint32_t Offset, Value;
    } Required[] = {
        {argument(0), static_cast<uint32_t>(Descriptor)},
        {argument(1), static_cast<uint32_t>(Path)},
        {argument(1) + 4, static_cast<uint32_t>(Path >> 32)},
        {argument(4), AT_EMPTY_PATH},
    };
    constexpr uint8_t InstructionsEach = 3;
    skipUnlessCall(__NR_execveat,
                   InstructionsEach * (sizeof(Required) / sizeof(Required[0])));
    for (const auto &One : Required) {
      load(One.Offset);
      returnUnlessEqual(One.Value, failure(EPERM));
    }
  }

  static constexpr size_t MaxInstructions = 3 * ForbiddenCount + 64;
  sock_filter Code[MaxInstructions] = {};
  unsigned short Count = 0;
  sock_fprog Program = {};
};

/// The longest filter fits: writing past the end is no constant expression.
[[maybe_unused]] constexpr Filter Longest(Execution::Once, 0, 0);

} // namespace

bool hasFilters() {
  // With a filter at no address, a kernel that takes filters fails with EFAULT.
  return syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER,
                 SECCOMP_FILTER_FLAG_SPEC_ALLOW, nullptr) < 0 &&
         errno == EFAULT;
}

const char *forbidSystemCalls(Execution Allowed, int Descriptor,
                              const char *Path) {
  Filter Calls(Allowed, Descriptor, reinterpret_cast<uintptr_t>(Path));
  // Without the flag, kernels before 5.16 switch off speculation past stores in
  // every filtered process, which costs time.
  if (syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER,
              SECCOMP_FILTER_FLAG_SPEC_ALLOW, Calls.program()))
    return "seccomp";
  return nullptr;
}

} // namespace mlgo
