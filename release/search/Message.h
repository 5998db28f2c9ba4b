// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

/// \file
/// What copies of a process send each other.

#ifndef MLGO_RELEASE_SEARCH_MESSAGE_H
#define MLGO_RELEASE_SEARCH_MESSAGE_H

#include "Build.h"

#include "llvm/ADT/StringRef.h"

#include <cstdint>
#include <optional>
#include <string>

namespace mlgo::search {

/// What the copy that searches sends.
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

/// What a try sends that has generated code.
struct Tried {
  /// Empty: the inliner left what it left in an earlier try.
  llvm::StringRef Object;
  /// The decisions, as lines of a file.
  llvm::StringRef Taken;
  /// Of `replaceKnown`.
  llvm::StringRef Digests;
  bool Prints = false;
  llvm::StringRef DigestOfInlined;
};

/// What a try sends that has optimised the module, and waits.
struct Waiting {
  /// Of `digestOf`, and of `estimatedCode`.
  llvm::StringRef Digest;
  int64_t Estimate = 0;
};

std::string messageOf(const Searched &Result);
std::string messageOf(const Tried &Result);
std::string messageOf(const Waiting &Result);

Searched searchedIn(llvm::StringRef Message);
/// Both refer to the message. The object is as aligned as it is.
Tried triedIn(llvm::StringRef Message);
Waiting waitingIn(llvm::StringRef Message);

} // namespace mlgo::search

#endif // MLGO_RELEASE_SEARCH_MESSAGE_H
