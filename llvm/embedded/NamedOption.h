// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

/// \file
/// Options by their names: those of LLVM that no header declares, and ours that
/// not every program has.

#ifndef MLGO_LLVM_EMBEDDED_NAMEDOPTION_H
#define MLGO_LLVM_EMBEDDED_NAMEDOPTION_H

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

/// Whether the command line has the option.
inline bool isGiven(llvm::StringRef Name) {
  const llvm::cl::Option *const Found = findOption(Name);
  return Found && Found->getNumOccurrences() > 0;
}

} // namespace mlgo

#endif // MLGO_LLVM_EMBEDDED_NAMEDOPTION_H
