// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

/// \file
/// Functions whose code is known from an earlier try of the same search.

#ifndef MLGO_RELEASE_SEARCH_KNOWNCODE_H
#define MLGO_RELEASE_SEARCH_KNOWNCODE_H

#include <cstdint>
#include <map>
#include <string>

#include "llvm/ADT/StringRef.h"
#include "llvm/Object/ObjectFile.h"

namespace llvm {
class Module;
} // namespace llvm

namespace mlgo::search {

/// Digest of an optimised function → bytes of its code.
using KnownCode = std::map<std::string, uint64_t>;

/// Replaces the bodies of optimised functions in `Known` by as many bytes,
/// which are generated in no time, and returns the digests of all others, a
/// line `digest TAB name` each. Sections and the sizes of symbols stay what
/// they were.
///
/// Returns nothing where code generation is not known to treat each function
/// for itself.
std::string replaceKnown(llvm::Module &M, const KnownCode &Known);

/// Adds the functions of `Digests`, with their sizes in the object of the same
/// compile.
void addKnown(KnownCode &Known, llvm::StringRef Digests,
              const llvm::object::ObjectFile &Object);

/// A line `digest TAB bytes` each, and what such lines say.
std::string linesOf(const KnownCode &Known);
KnownCode knownIn(llvm::StringRef Lines);

} // namespace mlgo::search

#endif // MLGO_RELEASE_SEARCH_KNOWNCODE_H
