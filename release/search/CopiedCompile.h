// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

/// \file
/// A compile in a copy of clang's process, whose object is for the search.

#ifndef MLGO_RELEASE_SEARCH_COPIEDCOMPILE_H
#define MLGO_RELEASE_SEARCH_COPIEDCOMPILE_H

#include "BackendJob.h"
#include "Build.h"
#include "SilentOutputs.h"

#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Object/ObjectFile.h"

#include <cstdint>
#include <memory>

namespace mlgo::search {

class CopiedCompile {
public:
  /// The copy writes nothing and keeps its messages. Its inliner asks an
  /// advisor that is made when it starts.
  explicit CopiedCompile(const Job &Of);

  /// Optimises the module, and generates nothing.
  void optimise();

  using Object = llvm::SmallVector<char, 0>;
  /// Generates code of the module, which must be optimised, unless it is one of
  /// ThinLTO's.
  Object generate();

  /// Whether code generation keeps each function in one piece.
  bool keepsFunctionsWhole() const;
  bool hasError() const;
  /// Loses the try if there was an error.
  void requireNoError();
  /// Whether the compile prints something.
  bool prints() const;

  /// At an aligned address: LLVM reads objects there alone.
  std::unique_ptr<llvm::object::ObjectFile> read(llvm::StringRef Code);
  /// The sizes of an object. \param Defined the module's functions.
  Build measured(const llvm::object::ObjectFile &Code,
                 const Functions &Defined) const;

  const Job &Of;
  /// Back ends of ThinLTO have a pipeline of their own.
  const bool IsShared;

private:
  NotedMessages &Said;
  const uint64_t Printed;
};

inline llvm::StringRef textOf(const CopiedCompile::Object &Of) {
  return llvm::StringRef(Of.data(), Of.size());
}

} // namespace mlgo::search

#endif // MLGO_RELEASE_SEARCH_COPIEDCOMPILE_H
