// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

/// \file
/// What the functions of an object file cost in an image.

#ifndef MLGO_RELEASE_SEARCH_CODESIZE_H
#define MLGO_RELEASE_SEARCH_CODESIZE_H

#include "Build.h"

#include "llvm/ADT/StringRef.h"
#include "llvm/Object/ObjectFile.h"

namespace llvm {
class Module;
} // namespace llvm

namespace mlgo::search {

/// Names of the functions with a body, as decisions have them.
Functions definedIn(const llvm::Module &M);

/// The share of its bytes that a function counts which other objects may have
/// too: an image has it once.
inline constexpr double ShareOfInlineFunction = 0.5;

/// Sets `Sizes` and `CodeBytes` of `Of`. What the machine outliner moved counts
/// for the functions that call it, in ELF objects. Of several symbols at one
/// address the one counts that `Defined` has.
///
/// \param Prefix what the target puts before each symbol
///   (DataLayout::getGlobalPrefix), or 0.
void addSizes(Build &Of, const llvm::object::ObjectFile &Object,
              const Functions &Defined, char Prefix);

} // namespace mlgo::search

#endif // MLGO_RELEASE_SEARCH_CODESIZE_H
