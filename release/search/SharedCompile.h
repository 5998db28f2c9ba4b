// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

/// \file
/// The compiles of a search, which share the work before the inliner.

#ifndef MLGO_RELEASE_SEARCH_SHAREDCOMPILE_H
#define MLGO_RELEASE_SEARCH_SHAREDCOMPILE_H

#include "BackendJob.h"
#include "Message.h"

#include <optional>

namespace mlgo::search {

/// Searches, in a copy of this process. Empty: the default's compile is lost.
std::optional<Searched> searchInCopy(const Job &Of, unsigned Tries);

} // namespace mlgo::search

#endif // MLGO_RELEASE_SEARCH_SHAREDCOMPILE_H
