// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

/// \file
/// The compiles of a search, which share the work before the inliner.

#ifndef MLGO_RELEASE_SEARCH_SHAREDCOMPILE_H
#define MLGO_RELEASE_SEARCH_SHAREDCOMPILE_H

#include "BackendJob.h"

#include "llvm/ADT/StringRef.h"

#include <optional>
#include <string>

namespace mlgo::search {

/// What the compile that a search chose sends.
struct Searched {
  /// Empty: there was nothing to search.
  std::optional<Attempt> Chosen;
  unsigned Compiles = 0;
  /// Of the default, and of the chosen compile.
  uint64_t BytesBefore = 0;
  uint64_t BytesAfter = 0;
  std::string Object;
  /// Whether the compile prints something, so that it must be repeated where
  /// that is seen.
  bool Prints = false;
};

/// Searches, in a copy of this process. Empty: the default's compile is lost.
std::optional<Searched> searchInCopy(const Job &Of, unsigned Tries);

} // namespace mlgo::search

#endif // MLGO_RELEASE_SEARCH_SHAREDCOMPILE_H
