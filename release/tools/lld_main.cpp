// ld.lld with its driver for ELF alone. LLVM's own main also needs those for Windows, macOS and WebAssembly.

#include "lld/Common/Driver.h"
#include "llvm/Support/CommandLine.h"
#include "llvm/Support/LLVMDriver.h"
#include "llvm/Support/Process.h"
#include "llvm/Support/raw_ostream.h"

namespace lld {
int unsafeLldMain(llvm::ArrayRef<const char *> args, llvm::raw_ostream &stdoutOS,
                  llvm::raw_ostream &stderrOS,
                  llvm::ArrayRef<DriverDef> drivers, bool exitEarly);
} // namespace lld

LLD_HAS_DRIVER(elf)

// The search is in this program for clang. The linker would accept its option and do nothing.
static void removeSearch() {
  auto &options = llvm::cl::getRegisteredOptions();
  const auto search = options.find("mlgo-search");
  if (search != options.end())
    search->second->removeArgument();
}

int lld_main(int argc, char **argv, const llvm::ToolContext &) {
  removeSearch();
  llvm::sys::Process::UseANSIEscapeCodes(true);
  return lld::unsafeLldMain({argv, argv + argc}, llvm::outs(), llvm::errs(),
                            {{lld::Gnu, &lld::elf::link}},
                            /*exitEarly=*/true);
}
