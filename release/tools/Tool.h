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
  llvm::StringRef name;
  Main *main;
};

/// The tool whose name ends `path`, perhaps after a target and before a
/// version, as in x86_64-linux-gnu-llvm-ar-22. Otherwise `other`.
inline Main *toolOf(llvm::StringRef path, llvm::ArrayRef<Tool> tools,
                    Main *other) {
  llvm::StringRef name = llvm::sys::path::filename(path);
  name = name.rtrim("0123456789.").rtrim('-');
  for (const Tool &tool : tools)
    if (name.consume_back(tool.name) && (name.empty() || name.ends_with("-")))
      return tool.main;
  return other;
}

} // namespace mlgo

#endif
