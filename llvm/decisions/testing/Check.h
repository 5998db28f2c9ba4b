// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

/// \file
/// Conditions of the C++ tests that need nothing of LLVM.

#ifndef MLGO_LLVM_DECISIONS_TESTING_CHECK_H
#define MLGO_LLVM_DECISIONS_TESTING_CHECK_H

#include <cstdio>
#include <cstdlib>

// Ends the test program with the line and the text of `Condition` if it does
// not hold.
#define CHECK(Condition) mlgo::testing::check(Condition, #Condition, __LINE__)

namespace mlgo::testing {

inline void check(bool Holds, const char *What, int Line) {
  if (Holds)
    return;
  std::fprintf(stderr, "line %d: %s does not hold\n", Line, What);
  std::exit(EXIT_FAILURE);
}

} // namespace mlgo::testing

#endif // MLGO_LLVM_DECISIONS_TESTING_CHECK_H
