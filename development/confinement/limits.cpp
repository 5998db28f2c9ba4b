// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "development/confinement/limits.h"

#include <sys/resource.h>

namespace mlgo {
namespace {

/// Time for a program that catches SIGXCPU.
constexpr rlim_t kGraceSeconds = 5;

bool Limit(__rlimit_resource resource, rlim_t value, rlim_t grace) {
  rlimit limit;
  if (getrlimit(resource, &limit))
    return false;
  const rlim_t hard = value + grace;
  if (limit.rlim_max == RLIM_INFINITY || hard < limit.rlim_max)
    limit.rlim_max = hard;
  limit.rlim_cur = value < limit.rlim_max ? value : limit.rlim_max;
  return setrlimit(resource, &limit) == 0;
}

} // namespace

bool SetLimits(const Limits &limits) {
  const rlimit no_core = {0, 0};
  setrlimit(RLIMIT_CORE, &no_core);
  return Limit(RLIMIT_CPU, limits.cpu_seconds, kGraceSeconds) &&
         Limit(RLIMIT_AS, limits.address_space_bytes, 0) &&
         Limit(RLIMIT_FSIZE, limits.file_bytes, 0);
}

} // namespace mlgo
