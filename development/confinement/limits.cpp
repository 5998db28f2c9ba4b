// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "development/confinement/limits.h"

#include <sys/resource.h>

namespace mlgo {
namespace {

/// Time for a program that catches SIGXCPU.
constexpr rlim_t GraceSeconds = 5;

bool limit(__rlimit_resource Resource, rlim_t Value, rlim_t Grace) {
  rlimit Limit;
  if (getrlimit(Resource, &Limit))
    return false;
  const rlim_t Hard = Value + Grace;
  if (Limit.rlim_max == RLIM_INFINITY || Hard < Limit.rlim_max)
    Limit.rlim_max = Hard;
  Limit.rlim_cur = Value < Limit.rlim_max ? Value : Limit.rlim_max;
  return setrlimit(Resource, &Limit) == 0;
}

} // namespace

bool setLimits(const ResourceLimits &Limits) {
  const rlimit NoCore = {0, 0};
  setrlimit(RLIMIT_CORE, &NoCore);
  return limit(RLIMIT_CPU, Limits.CpuSeconds, GraceSeconds) &&
         limit(RLIMIT_AS, Limits.AddressSpaceBytes, 0) &&
         limit(RLIMIT_FSIZE, Limits.FileBytes, 0);
}

} // namespace mlgo
