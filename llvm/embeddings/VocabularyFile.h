// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

/// \file
/// The format of IR2Vec's vocabularies.

#ifndef MLGO_LLVM_EMBEDDINGS_VOCABULARYFILE_H
#define MLGO_LLVM_EMBEDDINGS_VOCABULARYFILE_H

#include "llvm/ADT/StringRef.h"

#include <cstddef>

namespace mlgo {

/// The dimension of the vectors in a vocabulary; 0 if LLVM could not use it.
/// LLVM's own reader crashes on an empty section.
std::size_t dimensionOfVocabulary(llvm::StringRef Content);

} // namespace mlgo

#endif // MLGO_LLVM_EMBEDDINGS_VOCABULARYFILE_H
