// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

/// \file
/// Evaluates a generated policy (class made_up::Policy of the header
/// POLICY_HEADER) on many observations, for Python's ctypes.

#include <stddef.h>
#include <string.h>

#include POLICY_HEADER

namespace {

made_up::Policy Policy;

} // namespace

/// Names[f] is "feed_<feature>", Arrays[f] its values, Bytes[f] of them per
/// observation. `Decisions` takes ResultBytes each. Returns how many of the
/// features the policy looks at, or -1 when it has no output `Result`.
extern "C" int decide_many(size_t Count, int Features, const char *const *Names,
                           const char *const *Arrays, const size_t *Bytes,
                           const char *Result, char *Decisions,
                           size_t ResultBytes) {
  const int Output = Policy.LookupResultIndex(Result);
  if (Output < 0)
    return -1;
  int Known = 0;
  for (int F = 0; F < Features; ++F)
    Known += Policy.LookupArgIndex(Names[F]) >= 0;
  for (size_t N = 0; N < Count; ++N) {
    for (int F = 0; F < Features; ++F)
      if (void *const Tensor = Policy.arg_data(Policy.LookupArgIndex(Names[F])))
        memcpy(Tensor, Arrays[F] + N * Bytes[F], Bytes[F]);
    Policy.Run();
    memcpy(Decisions + N * ResultBytes, Policy.result_data(Output),
           ResultBytes);
  }
  return Known;
}
