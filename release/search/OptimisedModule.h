// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

/// \file
/// What is compared of two compiles of a module before code is generated.

#ifndef MLGO_RELEASE_SEARCH_OPTIMISEDMODULE_H
#define MLGO_RELEASE_SEARCH_OPTIMISEDMODULE_H

#include <cstdint>
#include <string>

namespace llvm {
class Module;
} // namespace llvm

namespace mlgo::search {

/// The digests of all functions with a body, in their order: where they are
/// equal, so is the code.
std::string digestOf(llvm::Module &M);

/// LLVM's cost in bytes of code, without a target, of all functions that are in
/// the object. Tells which of two compiles is likely to be the smaller one.
int64_t estimatedCode(const llvm::Module &M);

} // namespace mlgo::search

#endif // MLGO_RELEASE_SEARCH_OPTIMISEDMODULE_H
