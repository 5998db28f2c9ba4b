// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

/// \file
/// The linker alone, with what archives of bitcode need: for builds that
/// compile with another clang.

#include "Tool.h"

#include "llvm/ADT/SmallVector.h"
#include "llvm/Support/InitLLVM.h"

using llvm::ToolContext;

mlgo::Main lld_main, llvm_ar_main, llvm_nm_main;

/// Each name is also one of `LINKER_TOOLS` in defs.bzl, which makes the links.
static const mlgo::Tool Tools[] = {
    {"llvm-ar", llvm_ar_main},
    {"llvm-nm", llvm_nm_main},
    {"llvm-ranlib", llvm_ar_main},
};

/// lld selects its driver by argv[0].
static int linker(int Argc, char **Argv, const ToolContext &Context) {
  static char Name[] = "ld.lld";
  llvm::SmallVector<char *> Arguments(Argv, Argv + Argc);
  Arguments[0] = Name;
  return lld_main(Argc, Arguments.data(), Context);
}

int main(int argc, char **argv) {
  llvm::InitLLVM Initialised(argc, argv);
  return mlgo::toolOf(argv[0], Tools, linker)(argc, argv,
                                              {argv[0], nullptr, false});
}
