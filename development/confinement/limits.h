// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

/// \file
/// What a process that compiles may use.

#ifndef MLGO_DEVELOPMENT_CONFINEMENT_LIMITS_H
#define MLGO_DEVELOPMENT_CONFINEMENT_LIMITS_H

#include <stdint.h>

namespace mlgo {

struct ResourceLimits {
  /// SIGXCPU at the limit, SIGKILL five seconds later.
  uint64_t CpuSeconds;
  uint64_t AddressSpaceBytes; ///< allocations fail above it
  /// Of each file that is written; SIGXFSZ above it.
  uint64_t FileBytes;
};

/// Sets the limits of this process, none above those that it has, and allows no
/// core dump. Returns false and sets errno on failure.
bool setLimits(const ResourceLimits &Limits);

} // namespace mlgo

#endif // MLGO_DEVELOPMENT_CONFINEMENT_LIMITS_H
