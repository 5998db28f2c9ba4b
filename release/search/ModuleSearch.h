// The search for better inlining decisions in one module.
#ifndef MLGO_RELEASE_SEARCH_MODULESEARCH_H
#define MLGO_RELEASE_SEARCH_MODULESEARCH_H

#include "Build.h"

#include <functional>
#include <optional>
#include <utility>

namespace mlgo::search {

// What a compile comes to.
struct Outcome {
  Outcome() = default;
  Outcome(Build Made) : Made(std::move(Made)) {}
  Outcome(std::optional<Build> Made) : Made(std::move(Made)) {}
  // For copies of a process that make a try: there the search ends at once.
  static Outcome endOfSearch() {
    Outcome End;
    End.EndsSearch = true;
    return End;
  }

  // Empty: the compile fails, on every machine, which costs this attempt alone.
  std::optional<Build> Made;
  bool EndsSearch = false;
};

// Compiles the module.
using Compile = std::function<Outcome(const Attempt &)>;

struct Found {
  std::optional<Attempt> Best = std::nullopt;
  // The default's compile, with which others are compared, fails.
  std::optional<Attempt> Lost = std::nullopt;
};

// Tries up to `Tries` compiles of the module, and returns the one that makes it smallest. The first one is the released
// default, which counts among the tries only if there are two: it has no account of its decisions. The object has no
// more code bytes than the released default's and the released policy's.
Found searchModule(const Compile &Run, unsigned Tries, bool HasPolicy);

} // namespace mlgo::search

#endif // MLGO_RELEASE_SEARCH_MODULESEARCH_H
