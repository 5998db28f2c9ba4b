// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

/// \file
/// Features of inlining besides LLVM's: the callee's lifetime and size
/// (README.md).

#ifndef MLGO_LLVM_FEATURES_INLININGFEATURES_H
#define MLGO_LLVM_FEATURES_INLININGFEATURES_H

#include <cstddef>
#include <vector>

#include "llvm/Analysis/MLInlineAdvisor.h"
#include "llvm/Analysis/MLModelRunner.h"
#include "llvm/Analysis/TensorSpec.h"
#include "llvm/IR/InstrTypes.h"
#include "llvm/IR/PassManager.h"

namespace mlgo {

/// `Features` and after them those of this folder: the inputs of a runner.
std::vector<llvm::TensorSpec>
withInliningFeatures(const std::vector<llvm::TensorSpec> &Features);

/// Sets the features of this folder for `CB`, of which LLVM's are set already.
///
/// \param First the place of our first feature: the number of LLVM's.
void setInliningFeatures(llvm::MLModelRunner &Runner, std::size_t First,
                         const llvm::CallBase &CB,
                         const llvm::MLInlineAdvisor &Advisor,
                         llvm::FunctionAnalysisManager &FAM);

} // namespace mlgo

#endif // MLGO_LLVM_FEATURES_INLININGFEATURES_H
