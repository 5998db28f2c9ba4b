// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

/// \file
/// Options by their names: those of LLVM that no header declares, and ours that
/// not every program has. All code asks here.

#ifndef MLGO_LLVM_OPTIONS_OPTIONS_H
#define MLGO_LLVM_OPTIONS_OPTIONS_H

#include "llvm/ADT/StringRef.h"
#include "llvm/ADT/Twine.h"
#include "llvm/Support/CommandLine.h"
#include "llvm/Support/ErrorHandling.h"

namespace mlgo {

/// Null: this program has no such option.
inline llvm::cl::Option *findOption(llvm::StringRef Name) {
  auto &Options = llvm::cl::getRegisteredOptions();
  const auto Found = Options.find(Name);
  return Found == Options.end() ? nullptr : Found->second;
}

/// Ends the program if it has no such option: this LLVM is another one than our
/// code was written for.
inline llvm::cl::Option &optionNamed(llvm::StringRef Name) {
  llvm::cl::Option *const Found = findOption(Name);
  if (!Found)
    llvm::report_fatal_error("this LLVM has no option -" + llvm::Twine(Name) +
                             ", which mlgo's code reads");
  return *Found;
}

/// The option as one with values of the type `T`. Ends the program if its
/// values have another type. LLVM is compiled with run-time type information.
template <typename T> llvm::cl::opt<T> &optionOf(llvm::cl::Option &Named) {
  auto *const Typed = dynamic_cast<llvm::cl::opt<T> *>(&Named);
  if (!Typed)
    llvm::report_fatal_error(
        "the option -" + llvm::Twine(Named.ArgStr) +
        " of this LLVM has values of another type than mlgo's code reads");
  return *Typed;
}

/// As above, of the name. Ends the program if there is no such option.
template <typename T> llvm::cl::opt<T> &optionNamed(llvm::StringRef Name) {
  return optionOf<T>(optionNamed(Name));
}

/// Whether the command line has the option.
inline bool isGiven(llvm::StringRef Name) {
  const llvm::cl::Option *const Found = findOption(Name);
  return Found && Found->getNumOccurrences() > 0;
}

} // namespace mlgo

#endif // MLGO_LLVM_OPTIONS_OPTIONS_H
