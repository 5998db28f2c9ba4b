// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

/// \file
/// What copies of a process send each other.

#ifndef MLGO_RELEASE_SEARCH_MESSAGE_H
#define MLGO_RELEASE_SEARCH_MESSAGE_H

#include "llvm/ADT/StringRef.h"

#include <initializer_list>
#include <string>
#include <vector>

namespace mlgo::search {

/// The parts, and after them their lengths: an object that comes first keeps
/// its alignment.
std::string message(std::initializer_list<llvm::StringRef> Parts);

/// The parts of such a message.
std::vector<llvm::StringRef> partsOf(llvm::StringRef Message);

} // namespace mlgo::search

#endif // MLGO_RELEASE_SEARCH_MESSAGE_H
