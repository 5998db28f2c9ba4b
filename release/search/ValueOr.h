// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

/// \file
/// Reading an object whose damage makes the search less precise, and no more.

#ifndef MLGO_RELEASE_SEARCH_VALUEOR_H
#define MLGO_RELEASE_SEARCH_VALUEOR_H

#include "llvm/Support/Error.h"

#include <utility>

namespace mlgo::search {

/// The value, or another one if the object is not as expected. Then the size of
/// a function is not known.
template <typename T> T valueOr(llvm::Expected<T> Value, T Otherwise) {
  if (Value)
    return std::move(*Value);
  llvm::consumeError(Value.takeError());
  return Otherwise;
}

} // namespace mlgo::search

#endif // MLGO_RELEASE_SEARCH_VALUEOR_H
