// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

/// \file
/// ld.lld with its driver for ELF alone. LLVM's own main also needs those for
/// Windows, macOS and WebAssembly.

#include "BitcodeErrors.h"

#include "lld/Common/Driver.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/CommandLine.h"
#include "llvm/Support/LLVMDriver.h"
#include "llvm/Support/Process.h"
#include "llvm/Support/raw_ostream.h"

namespace lld {
int unsafeLldMain(llvm::ArrayRef<const char *> args,
                  llvm::raw_ostream &stdoutOS, llvm::raw_ostream &stderrOS,
                  llvm::ArrayRef<DriverDef> drivers, bool exitEarly);
} // namespace lld

LLD_HAS_DRIVER(elf)

// The lines of `clang --version` (llvm/embedded/EmbeddedModel.cpp).
void mlgoPrintPolicies(llvm::raw_ostream &OS);

/// The searches are in this program for clang. The linker would accept the
/// option of one and do nothing, and the other needs a process with one thread.
static void removeSearches() {
  auto &options = llvm::cl::getRegisteredOptions();
  for (const llvm::StringRef name : {"mlgo-search", "mlgo-allocations"}) {
    const auto search = options.find(name);
    if (search != options.end())
      search->second->removeArgument();
  }
}

/// lld for ELF, whose --version names the policies too.
static bool link(llvm::ArrayRef<const char *> args, llvm::raw_ostream &stdoutOS,
                 llvm::raw_ostream &stderrOS, bool exitEarly,
                 bool disableOutput) {
  const bool isLinked =
      lld::elf::link(args, stdoutOS, stderrOS, exitEarly, disableOutput);
  const auto asksForVersion = [](llvm::StringRef word) {
    return word == "--version" || word == "-version";
  };
  if (isLinked && llvm::any_of(args, asksForVersion))
    mlgoPrintPolicies(stdoutOS);
  return isLinked;
}

int lld_main(int argc, char **argv, const llvm::ToolContext &) {
  removeSearches();
  llvm::sys::Process::UseANSIEscapeCodes(true);
  const llvm::ArrayRef<const char *> args(argv, argc);
  // The linker ends the process without leaving this function.
  mlgo::BitcodeErrors errors(llvm::errs(), args);
  return lld::unsafeLldMain(args, llvm::outs(), errors, {{lld::Gnu, &link}},
                            /*exitEarly=*/true);
}
