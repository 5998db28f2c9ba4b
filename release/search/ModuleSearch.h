// The search for better inlining decisions in one module.
#ifndef MLGO_RELEASE_SEARCH_MODULESEARCH_H
#define MLGO_RELEASE_SEARCH_MODULESEARCH_H

#include "Build.h"

#include <functional>
#include <optional>

namespace mlgo::search {

// Compiles the module. Empty: the compile failed, which costs this attempt alone.
using Compile = std::function<std::optional<Build>(const Attempt &)>;

// Tries up to `Tries` compiles of the module, and returns the one that makes it smallest. Its object has no more code
// bytes than the released default's and the released policy's, which are compiled besides if they are not the tries
// themselves. Empty: there is nothing to decide, or the default's compile fails.
std::optional<Attempt> searchModule(const Compile &Run, unsigned Tries, bool HasPolicy);

} // namespace mlgo::search

#endif // MLGO_RELEASE_SEARCH_MODULESEARCH_H
