// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

/// \file
/// A compiler of a toy language, in which the size of every choice of inlining
/// can be computed.

#ifndef MLGO_RELEASE_SEARCH_TESTING_TOYCOMPILER_H
#define MLGO_RELEASE_SEARCH_TESTING_TOYCOMPILER_H

#include "Build.h"

#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace mlgo::search::testing {

inline constexpr int CallBytes = 5;

struct ToyFunction {
  std::string Name;
  /// Of the body, calls left out.
  int Bytes;
  /// What it calls, in order: functions that stand before it in the program.
  std::vector<std::string> Calls = {};
  /// Whether it vanishes when nothing calls it.
  bool IsLocal = true;
  /// Bytes by which each inlined copy is smaller.
  int Saving = 0;
};

/// The default inlines bodies of less than `DefaultLimit` bytes, the policy
/// those of less than `PolicyLimit`.
class ToyCompiler {
public:
  explicit ToyCompiler(std::vector<ToyFunction> Program)
      : Program(std::move(Program)) {}

  /// Bottom up, as LLVM does: an inlined body brings the calls that are left in
  /// it, which are asked about again.
  Build build(const Attempt &Asked) const;

  static constexpr int DefaultLimit = 10, PolicyLimit = 20;

private:
  struct Body {
    int Bytes = 0;
    /// Callee, and the rest of the call site's name after it.
    std::vector<std::pair<std::string, std::string>> Left;
  };

  Functions reachable(const std::map<std::string, Body> &Bodies) const;

  const std::vector<ToyFunction> Program;
};

} // namespace mlgo::search::testing

#endif // MLGO_RELEASE_SEARCH_TESTING_TOYCOMPILER_H
