// The search for better inlining decisions in one module.
#ifndef MLGO_RELEASE_SEARCH_MODULESEARCH_H
#define MLGO_RELEASE_SEARCH_MODULESEARCH_H

#include "Build.h"

#include <functional>
#include <optional>

namespace mlgo::search {

// Compiles the module. Empty: the compile fails, on every machine, which costs this attempt alone.
using Compile = std::function<std::optional<Build>(const Attempt &)>;

// What a search comes to. Neither: there is nothing to decide.
struct Found {
  std::optional<Attempt> Best = std::nullopt;
  // The default's compile, with which others are compared, fails.
  std::optional<Attempt> Lost = std::nullopt;
};

// Tries up to `Tries` compiles of the module, and returns the one that makes it smallest. Its object has no more code
// bytes than the released default's and the released policy's, which are compiled besides if they are not the tries
// themselves.
Found searchModule(const Compile &Run, unsigned Tries, bool HasPolicy);

} // namespace mlgo::search

#endif // MLGO_RELEASE_SEARCH_MODULESEARCH_H
