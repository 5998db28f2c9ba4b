// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

/// \file
/// One program under several names: clang, the linker, and the tools for
/// archives, objects, profiles and stack traces.
///
/// They share LLVM's code, and the policies: the linker takes the same
/// decisions in link-time optimisation as clang.

#include "Tool.h"

#include "llvm/Config/llvm-config.h"
#include "llvm/Support/InitLLVM.h"

using llvm::ToolContext;

mlgo::Main clang_main, lld_main, llvm_ar_main, llvm_nm_main, llvm_objcopy_main,
    llvm_size_main, llvm_symbolizer_main;

/// Not among the tools that LLVM itself puts into one program: a `main` of its
/// own, renamed by the build.
int llvm_profdata_main(int Argc, const char *Argv[]);

static int profdata(int Argc, char **Argv, const ToolContext &) {
  return llvm_profdata_main(Argc, const_cast<const char **>(Argv));
}

/// Each name is also one of `TOOLS` in defs.bzl, which makes the links.
static const mlgo::Tool Tools[] = {
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

/// Any other name is clang's: users choose it.
int main(int argc, char **argv) {
#if LLVM_VERSION_MAJOR >= 23
  // Of LLVM's programs clang alone treats signals as POSIX wants it of a
  // utility (configure_driver_tool in LLVM's AddLLVM.cmake).
  llvm::InitLLVM Initialised(argc, argv, /*InstallPipeSignalExitHandler=*/true,
                             /*NeedsPOSIXUtilitySignalHandling=*/
                             mlgo::toolOf(argv[0], Tools, clang_main) ==
                                 clang_main);
#else
  llvm::InitLLVM Initialised(argc, argv);
#endif
  return mlgo::toolOf(argv[0], Tools, clang_main)(argc, argv,
                                                  {argv[0], nullptr, false});
}
