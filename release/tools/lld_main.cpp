// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

/// \file
/// ld.lld with its driver for ELF alone. LLVM's own main also needs those for
/// Windows, macOS and WebAssembly.

#include "BitcodeErrors.h"
#include "Options.h"

#include "lld/Common/Driver.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/CommandLine.h"
#include "llvm/Support/LLVMDriver.h"
#include "llvm/Support/Process.h"
#include "llvm/Support/raw_ostream.h"

namespace lld {
int unsafeLldMain(llvm::ArrayRef<const char *> Args,
                  llvm::raw_ostream &StdoutOS, llvm::raw_ostream &StderrOS,
                  llvm::ArrayRef<DriverDef> Drivers, bool ExitEarly);
} // namespace lld

LLD_HAS_DRIVER(elf)

// The lines of `clang --version` (llvm/embedded/EmbeddedModel.cpp).
void mlgoPrintPolicies(llvm::raw_ostream &OS);

/// These options are in this program for clang. The linker would accept the
/// option of one search and do nothing, the other needs a process with one
/// thread, and the modules of a link would write one file of costs.
static void removeSearches() {
  for (const llvm::StringRef Name :
       {"mlgo-search", "mlgo-allocations", "mlgo-executed-cost-file"})
    if (llvm::cl::Option *const Search = mlgo::findOption(Name))
      Search->removeArgument();
  // Configuration files give this one to links too, where it does nothing.
  if (llvm::cl::Option *const Search =
          mlgo::findOption("mlgo-allocations-with-profile"))
    mlgo::optionOf<unsigned>(*Search).setCallback([](const unsigned &) {});
}

/// lld for ELF, whose --version names the policies too.
static bool link(llvm::ArrayRef<const char *> Args, llvm::raw_ostream &StdoutOS,
                 llvm::raw_ostream &StderrOS, bool ExitEarly,
                 bool DisableOutput) {
  const bool IsLinked =
      lld::elf::link(Args, StdoutOS, StderrOS, ExitEarly, DisableOutput);
  const auto AsksForVersion = [](llvm::StringRef Word) {
    return Word == "--version" || Word == "-version";
  };
  if (IsLinked && llvm::any_of(Args, AsksForVersion))
    mlgoPrintPolicies(StdoutOS);
  return IsLinked;
}

int lld_main(int Argc, char **Argv, const llvm::ToolContext &) {
  removeSearches();
  llvm::sys::Process::UseANSIEscapeCodes(true);
  const llvm::ArrayRef<const char *> Args(Argv, Argc);
  // The linker ends the process without leaving this function.
  mlgo::BitcodeErrors Errors(llvm::errs(), Args);
  return lld::unsafeLldMain(Args, llvm::outs(), Errors, {{lld::Gnu, &link}},
                            /*exitEarly=*/true);
}
