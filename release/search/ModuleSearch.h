// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

/// \file
/// The search for better inlining decisions in one module.

#ifndef MLGO_RELEASE_SEARCH_MODULESEARCH_H
#define MLGO_RELEASE_SEARCH_MODULESEARCH_H

#include "Build.h"

#include <functional>
#include <optional>
#include <utility>

namespace mlgo::search {

/// What a compile comes to.
struct Outcome {
  Outcome() = default;
  Outcome(Build Made) : Made(std::move(Made)) {}
  Outcome(std::optional<Build> Made) : Made(std::move(Made)) {}
  /// For copies of a process that make a try: there the search ends at once.
  static Outcome endOfSearch() {
    Outcome End;
    End.EndsSearch = true;
    return End;
  }

  /// Empty: the compile fails, on every machine, which costs this attempt
  /// alone.
  std::optional<Build> Made;
  bool EndsSearch = false;
};

/// Compiles the module. The object of the last try and of the default's are
/// kept: they are the best ones most often.
using Compile = std::function<Outcome(const Attempt &, bool KeepsObject)>;

struct Found {
  std::optional<Attempt> Best = std::nullopt;
  /// The default's compile, with which others are compared, fails.
  std::optional<Attempt> Lost = std::nullopt;
};

/// Tries up to `Tries` compiles of the module, and returns the one that makes
/// it smallest. The first two are the released default and the released policy,
/// and the object has no more code bytes than theirs.
Found searchModule(const Compile &Run, unsigned Tries, bool HasPolicy);

/// Whether a search of two tries chooses the released policy's build, and not
/// the released default's.
bool isPolicySmaller(const Build &Default, const Build &Policy);

} // namespace mlgo::search

#endif // MLGO_RELEASE_SEARCH_MODULESEARCH_H
