// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

/// \file
/// Two compiles, the default's and the policy's, which share the work before
/// the first call about which they differ.

#ifndef MLGO_RELEASE_SEARCH_COMPAREDCOMPILE_H
#define MLGO_RELEASE_SEARCH_COMPAREDCOMPILE_H

#include "CopiedCompile.h"

namespace mlgo::search {

/// Whether the two compiles of the module can share that.
bool canCompare(const CopiedCompile &Here);

/// Ends this copy of the process, and sends `Searched` to its parent.
[[noreturn]] void compareHere(CopiedCompile &Here);

} // namespace mlgo::search

#endif // MLGO_RELEASE_SEARCH_COMPAREDCOMPILE_H
