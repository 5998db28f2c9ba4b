// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

/// \file
/// The body of a function, passed from one copy of a process to another.

#ifndef MLGO_RELEASE_SEARCH_SIMPLIFIEDFUNCTION_H
#define MLGO_RELEASE_SEARCH_SIMPLIFIEDFUNCTION_H

#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/ADT/StringSet.h"

#include <memory>
#include <string>

namespace llvm {
class Function;
class GlobalValue;
class Module;
} // namespace llvm

namespace mlgo::search {

/// The function as bitcode, without debug information. Empty: the function
/// refers to what another copy of the module may not have.
///
/// \param LocalSymbols local symbols to which it may refer.
std::string bitcodeOf(const llvm::Function &F,
                      const llvm::StringSet<> &LocalSymbols);

/// A function from `bitcodeOf`.
class SimplifiedFunction {
public:
  /// Null: the module of `F` does not have all to which the body refers.
  static std::unique_ptr<SimplifiedFunction> read(llvm::StringRef Bitcode,
                                                  llvm::Function &F);
  ~SimplifiedFunction();

  /// Gives the body, the attributes and the personality to the function for
  /// which it was read, which must have no blocks.
  void moveInto(llvm::Function &F);

private:
  SimplifiedFunction();

  std::unique_ptr<llvm::Module> Holder;
  llvm::DenseMap<llvm::GlobalValue *, llvm::GlobalValue *> Here;
};

} // namespace mlgo::search

#endif // MLGO_RELEASE_SEARCH_SIMPLIFIEDFUNCTION_H
