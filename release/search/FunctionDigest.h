// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

/// \file
/// What code generation makes a function's code of, as a digest.

#ifndef MLGO_RELEASE_SEARCH_FUNCTIONDIGEST_H
#define MLGO_RELEASE_SEARCH_FUNCTIONDIGEST_H

#include <cstdint>
#include <string>

#include "llvm/ADT/DenseMap.h"

namespace llvm {
class AttributeList;
class Constant;
class Function;
class GlobalValue;
class Module;
class Type;
} // namespace llvm

namespace mlgo::search {

/// Equal digests in two copies of a process mean equal code: all that is
/// digested is content, no address. Debug information is left out. Names of
/// other functions and variables count, with what code that uses them depends
/// on.
class FunctionDigests {
public:
  /// Of a function with a body. 32 characters.
  std::string operator()(llvm::Function &F);

private:
  class Writer;

  uint64_t ofType(llvm::Type *T);
  uint64_t ofAttributes(llvm::AttributeList List);
  uint64_t ofConstant(const llvm::Constant *C);
  uint64_t ofGlobal(const llvm::GlobalValue &Global);

  llvm::DenseMap<llvm::Type *, uint64_t> Types;
  llvm::DenseMap<const llvm::Constant *, uint64_t> Constants;
  llvm::DenseMap<const void *, uint64_t> Attributes;
};

} // namespace mlgo::search

#endif // MLGO_RELEASE_SEARCH_FUNCTIONDIGEST_H
