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
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace mlgo {
namespace {

#if defined(__x86_64__)
constexpr uint32_t kArchitecture = AUDIT_ARCH_X86_64;
#elif defined(__aarch64__)
constexpr uint32_t kArchitecture = AUDIT_ARCH_AARCH64;
#else
constexpr uint32_t kArchitecture = 0;
#endif

/// Numbers from 424 on are the same on all architectures; the system root's
/// headers do not have the last ones. On x86-64 the calls of x32 have a high
/// bit, so they count as newer.
constexpr uint32_t kOpenTreeAttributes = 467, kSetFileAttributes = 469,
                   kSetXattrAt = 463, kRemoveXattrAt = 466, kFchmodat2 = 452,
                   kCachestat = 451, kLastKnown = kSetFileAttributes;
static_assert(__NR_landlock_create_ruleset == 444 && kCachestat == 451,
              "another architecture");

constexpr uint32_t kForbidden[] = {
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
    kFchmodat2,
    __NR_fchown,
    __NR_fchownat,
    __NR_utimensat,
    __NR_setxattr,
    __NR_lsetxattr,
    __NR_fsetxattr,
    __NR_removexattr,
    __NR_lremovexattr,
    __NR_fremovexattr,
    kSetXattrAt,
    kRemoveXattrAt,
    kSetFileAttributes,
    __NR_mknodat,
#ifdef __x86_64__
    __NR_chmod,
    __NR_chown,
    __NR_lchown,
    __NR_utime,
    __NR_utimes,
    __NR_futimesat,
    __NR_mknod,
#endif
    // File systems and namespaces.
    __NR_mount,
    __NR_umount2,
    __NR_pivot_root,
    __NR_chroot,
    __NR_move_mount,
    __NR_open_tree,
    kOpenTreeAttributes,
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
#ifdef __x86_64__
    __NR_iopl,
    __NR_ioperm,
#endif
};

constexpr size_t kForbiddenCount = sizeof(kForbidden) / sizeof(kForbidden[0]);

struct Numbers {
  uint32_t values[kForbiddenCount];
};

constexpr Numbers Sorted() {
  Numbers sorted = {};
  for (size_t count = 0; count < kForbiddenCount; ++count) {
    size_t at = count;
    for (; at > 0 && sorted.values[at - 1] > kForbidden[count]; --at)
      sorted.values[at] = sorted.values[at - 1];
    sorted.values[at] = kForbidden[count];
  }
  return sorted;
}

constexpr Numbers kSorted = Sorted();

constexpr uint32_t kNamespaces = CLONE_NEWNS | CLONE_NEWCGROUP | CLONE_NEWUTS |
                                 CLONE_NEWIPC | CLONE_NEWUSER | CLONE_NEWPID |
                                 CLONE_NEWNET;

/// Writes a filter for the kernel's classic BPF machine.
class Filter {
public:
  Filter(Execution execution, int descriptor, const char *path) {
    Load(offsetof(seccomp_data, arch));
    ReturnUnlessEqual(kArchitecture, Failure(ENOSYS));
    LoadNumber();
    Add(BPF_JMP | BPF_JGT | BPF_K, kLastKnown, 0, 1);
    Return(Failure(ENOSYS));
    ForbidListed();
    // The C library then uses clone, whose flags can be read.
    ReturnIfEqual(__NR_clone3, Failure(ENOSYS));
    ForbidNamespaces();
    ForbidLimitsOfOthers();
    if (execution != Execution::kEverything)
      ForbidExecution(execution, descriptor, path);
    Return(SECCOMP_RET_ALLOW);
  }

  const sock_fprog *program() {
    program_ = {count_, code_};
    return &program_;
  }

private:
  static constexpr uint32_t Failure(uint32_t error) {
    return SECCOMP_RET_ERRNO | error;
  }

  /// Offset of the lower half of an argument; the upper half follows (both
  /// architectures are little-endian).
  static constexpr uint32_t Argument(uint32_t index) {
    return static_cast<uint32_t>(offsetof(seccomp_data, args)) + 8 * index;
  }

  void Add(uint32_t code, uint32_t value, uint8_t if_true = 0,
           uint8_t if_false = 0) {
    // Without all of the filter, nothing may run.
    if (count_ == kMaxInstructions)
      abort();
    code_[count_++] = {static_cast<uint16_t>(code), if_true, if_false, value};
  }
  void Load(uint32_t offset) { Add(BPF_LD | BPF_W | BPF_ABS, offset); }
  void LoadNumber() { Load(offsetof(seccomp_data, nr)); }
  void Return(uint32_t action) { Add(BPF_RET | BPF_K, action); }
  void ReturnIfEqual(uint32_t value, uint32_t action) {
    Add(BPF_JMP | BPF_JEQ | BPF_K, value, 0, 1);
    Return(action);
  }
  void ReturnUnlessEqual(uint32_t value, uint32_t action) {
    Add(BPF_JMP | BPF_JEQ | BPF_K, value, 1, 0);
    Return(action);
  }

  /// The next `instructions` are for the call `number` only; they end with
  /// another LoadNumber or a return.
  void SkipUnlessCall(uint32_t number, uint8_t instructions) {
    Add(BPF_JMP | BPF_JEQ | BPF_K, number, 0, instructions);
  }

  /// The kernel runs the filter once for each call when it is installed, to
  /// remember those that are always allowed, so the numbers are compared in
  /// blocks: 0.12 ms instead of 0.18.
  void ForbidListed() {
    constexpr size_t kBlock = 8,
                     kBlocks = (kForbiddenCount + kBlock - 1) / kBlock;
    size_t exits[kBlocks];
    for (size_t block = 0; block < kBlocks; ++block) {
      const size_t first = block * kBlock, left = kForbiddenCount - first,
                   size = left < kBlock ? left : kBlock;
      // Past this block's two instructions for each number and the jump.
      Add(BPF_JMP | BPF_JGT | BPF_K, kSorted.values[first + size - 1],
          static_cast<uint8_t>(2 * size + 1), 0);
      for (size_t index = 0; index < size; ++index)
        ReturnIfEqual(kSorted.values[first + index], Failure(EPERM));
      exits[block] = count_;
      Add(BPF_JMP | BPF_JA, 0);
    }
    for (const size_t exit : exits)
      code_[exit].k = static_cast<uint32_t>(count_ - exit - 1);
  }

  void ForbidNamespaces() {
    SkipUnlessCall(__NR_clone, 4);
    Load(Argument(0));
    Add(BPF_JMP | BPF_JSET | BPF_K, kNamespaces, 0, 1);
    Return(Failure(EPERM));
    LoadNumber();
  }

  void ForbidLimitsOfOthers() {
    SkipUnlessCall(__NR_prlimit64, 4);
    Load(Argument(0));
    ReturnUnlessEqual(0, Failure(EPERM));
    LoadNumber();
  }

  void ForbidExecution(Execution execution, int descriptor, const char *path) {
    ReturnIfEqual(__NR_execve, Failure(EPERM));
    if (execution == Execution::kNothing) {
      ReturnIfEqual(__NR_execveat, Failure(EPERM));
      return;
    }
    // A path that is not empty would be executed instead of the descriptor,
    // hence the comparison of the pointer: the memory that it points to is gone
    // after the one execution.
    const uint64_t address = reinterpret_cast<uintptr_t>(path);
    const struct {
      uint32_t offset, value;
    } required[] = {
        {Argument(0), static_cast<uint32_t>(descriptor)},
        {Argument(1), static_cast<uint32_t>(address)},
        {Argument(1) + 4, static_cast<uint32_t>(address >> 32)},
        {Argument(4), AT_EMPTY_PATH},
    };
    constexpr uint8_t kInstructionsEach = 3;
    SkipUnlessCall(__NR_execveat, kInstructionsEach *
                                      (sizeof(required) / sizeof(required[0])));
    for (const auto &one : required) {
      Load(one.offset);
      ReturnUnlessEqual(one.value, Failure(EPERM));
    }
  }

  static constexpr size_t kMaxInstructions = 3 * kForbiddenCount + 64;
  sock_filter code_[kMaxInstructions];
  unsigned short count_ = 0;
  sock_fprog program_;
};

} // namespace

bool HasFilters() {
  // With a filter at no address, a kernel that takes filters fails with EFAULT.
  return kArchitecture &&
         syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER,
                 SECCOMP_FILTER_FLAG_SPEC_ALLOW, nullptr) < 0 &&
         errno == EFAULT;
}

const char *ForbidSystemCalls(Execution execution, int descriptor,
                              const char *path) {
  Filter filter(execution, descriptor, path);
  // Without the flag, kernels before 5.16 switch off speculation past stores in
  // every filtered process, which costs time.
  if (syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER,
              SECCOMP_FILTER_FLAG_SPEC_ALLOW, filter.program()))
    return "seccomp";
  return nullptr;
}

} // namespace mlgo
