// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

/// \file
/// The IR2Vec embeddings of caller and callee, which a policy of inlining may
/// be told (README.md).

#ifndef MLGO_LLVM_EMBEDDINGS_EMBEDDINGS_H
#define MLGO_LLVM_EMBEDDINGS_EMBEDDINGS_H

#include "llvm/ADT/StringRef.h"
#include "llvm/IR/Module.h"
#include "llvm/IR/PassManager.h"

namespace mlgo {

/// Makes the advisor of `M` that is created next observe embeddings. Ends the
/// program with one sentence unless the vocabulary in the program's tree, or
/// the one that -ir2vec-vocab-path names, is the wanted one.
///
/// \param Wanted "DIMENSION.DIGEST" (mlgo/problems/ir2vec.py).
/// \param WantedBy for the sentence.
void observeEmbeddings(llvm::Module &M, llvm::ModuleAnalysisManager &MAM,
                       llvm::StringRef Wanted, llvm::StringRef WantedBy);

/// The same for the vocabulary that -mlgo-ir2vec names. Without the option,
/// does nothing.
void observeGivenEmbeddings(llvm::Module &M, llvm::ModuleAnalysisManager &MAM);

} // namespace mlgo

#endif // MLGO_LLVM_EMBEDDINGS_EMBEDDINGS_H
