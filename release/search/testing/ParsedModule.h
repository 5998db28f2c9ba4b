// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

/// \file
/// A module of LLVM from text, for tests.

#ifndef MLGO_RELEASE_SEARCH_TESTING_PARSEDMODULE_H
#define MLGO_RELEASE_SEARCH_TESTING_PARSEDMODULE_H

#include "Check.h"

#include "llvm/ADT/StringRef.h"
#include "llvm/ADT/Twine.h"
#include "llvm/AsmParser/Parser.h"
#include "llvm/IR/LLVMContext.h"
#include "llvm/IR/Module.h"
#include "llvm/IR/Verifier.h"
#include "llvm/Support/SourceMgr.h"
#include "llvm/Support/raw_ostream.h"
#include "llvm/TargetParser/Triple.h"

#include <memory>
#include <string>

namespace mlgo::search::testing {

constexpr llvm::StringRef X86 = "x86_64-unknown-linux-gnu";

/// A module in a context of its own, as in another copy of a process.
struct ParsedModule {
  explicit ParsedModule(const llvm::Twine &Text, llvm::StringRef Target = X86) {
    llvm::SMDiagnostic Error;
    M = llvm::parseAssemblyString(Text.str(), Error, Context);
    if (!M)
      Error.print("test", llvm::errs());
    CHECK(M && !llvm::verifyModule(*M, &llvm::errs()));
    M->setTargetTriple(llvm::Triple(Target));
  }

  std::string print() const {
    std::string Text;
    llvm::raw_string_ostream(Text) << *M;
    return Text;
  }

  llvm::LLVMContext Context;
  std::unique_ptr<llvm::Module> M;
};

} // namespace mlgo::search::testing

#endif // MLGO_RELEASE_SEARCH_TESTING_PARSEDMODULE_H
