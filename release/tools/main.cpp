// One program under several names: clang, the linker, and the tools for archives, objects, profiles and stack traces.
//
// They share LLVM's code, and the policies: the linker takes the same decisions in link-time optimisation as clang.

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/InitLLVM.h"
#include "llvm/Support/LLVMDriver.h"
#include "llvm/Support/Path.h"

using llvm::StringRef;
using llvm::ToolContext;

using Main = int(int, char **, const ToolContext &);

Main clang_main, lld_main, llvm_ar_main, llvm_nm_main, llvm_objcopy_main,
    llvm_size_main, llvm_symbolizer_main;

// Not among the tools that LLVM itself puts into one program: a `main` of its
// own, renamed by the build.
int llvm_profdata_main(int argc, const char *argv[]);

static int profdata(int argc, char **argv, const ToolContext &) {
  return llvm_profdata_main(argc, const_cast<const char **>(argv));
}

namespace {
struct Tool {
  StringRef name;
  Main *main;
};
} // namespace

// Each name is also one of `TOOLS` in defs.bzl, which makes the links.
static const Tool tools[] = {
    {"ld.lld", lld_main},
    {"llvm-addr2line", llvm_symbolizer_main},
    {"llvm-ar", llvm_ar_main},
    {"llvm-nm", llvm_nm_main},
    {"llvm-objcopy", llvm_objcopy_main},
    {"llvm-profdata", profdata},
    {"llvm-ranlib", llvm_ar_main},
    {"llvm-size", llvm_size_main},
    {"llvm-strip", llvm_objcopy_main},
    {"llvm-symbolizer", llvm_symbolizer_main},
};

// The tool that a program name stands for: its own name, perhaps after a target
// and before a version, as in x86_64-linux-gnu-llvm-ar-22. Otherwise clang,
// whose name users choose.
static Main *toolOf(StringRef path) {
  StringRef name = llvm::sys::path::filename(path);
  name = name.rtrim("0123456789.").rtrim('-');
  for (const Tool &tool : tools)
    if (name.consume_back(tool.name) && (name.empty() || name.ends_with("-")))
      return tool.main;
  return clang_main;
}

int main(int argc, char **argv) {
  llvm::InitLLVM initialised(argc, argv);
  return toolOf(argv[0])(argc, argv, {argv[0], nullptr, false});
}
