// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

/// \file
/// Which of the tools in one program a program name stands for.

#ifndef MLGO_RELEASE_TOOLS_TOOL_H
#define MLGO_RELEASE_TOOLS_TOOL_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/LLVMDriver.h"
#include "llvm/Support/Path.h"

namespace mlgo {

using Main = int(int, char **, const llvm::ToolContext &);

struct Tool {
  llvm::StringRef Name;
  mlgo::Main *Main;
};

/// The tool whose name ends `Path`, perhaps after a target and before a
/// version, as in x86_64-linux-gnu-llvm-ar-22. Otherwise `Other`.
inline Main *toolOf(llvm::StringRef Path, llvm::ArrayRef<Tool> Tools,
                    Main *Other) {
  llvm::StringRef Name = llvm::sys::path::filename(Path);
  Name = Name.rtrim("0123456789.").rtrim('-');
  for (const Tool &One : Tools)
    if (Name.consume_back(One.Name) && (Name.empty() || Name.ends_with("-")))
      return One.Main;
  return Other;
}

} // namespace mlgo

#endif // MLGO_RELEASE_TOOLS_TOOL_H
