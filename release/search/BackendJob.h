// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

/// \file
/// One call of clang's back end, which a search repeats.

#ifndef MLGO_RELEASE_SEARCH_BACKENDJOB_H
#define MLGO_RELEASE_SEARCH_BACKENDJOB_H

#include "Build.h"

#include "clang/Basic/CodeGenOptions.h"
#include "clang/CodeGen/BackendUtil.h"
#include "clang/Frontend/CompilerInstance.h"

#include "llvm/Analysis/InlineAdvisor.h"
#include "llvm/Config/llvm-config.h"
#include "llvm/IR/Module.h"
#include "llvm/Support/VirtualFileSystem.h"
#include "llvm/Support/raw_ostream.h"

#include <memory>

namespace mlgo::search {

/// What a back end is called with, but for its output.
struct Job {
  clang::CompilerInstance &CI;
  clang::CodeGenOptions &Options;
  llvm::StringRef DataLayout;
  llvm::Module &M;
  clang::BackendAction Action;
  llvm::IntrusiveRefCntPtr<llvm::vfs::FileSystem> Files;
  clang::BackendConsumer *Consumer;

  /// Runs clang's function.
  void emit(clang::BackendAction As,
            std::unique_ptr<llvm::raw_pwrite_stream> To) const;
};

/// The file of -fstack-usage, which LLVM 23 renamed.
#if LLVM_VERSION_MAJOR >= 23
constexpr auto StackUsage = &clang::CodeGenOptions::StackUsageFile;
#else
constexpr auto StackUsage = &clang::CodeGenOptions::StackUsageOutput;
#endif

constexpr llvm::StringRef SearchOption = "mlgo-search",
                          SearchFlag = "-mlgo-search";
constexpr llvm::StringRef AdvisorMode = "enable-ml-inliner";
constexpr llvm::StringRef TakenDecisions = "mlgo-decisions-taken";
constexpr llvm::StringRef ReplayDecisions = "mlgo-decisions-replay";

/// Empty: the option's default.
void setOption(llvm::StringRef Name, llvm::StringRef Value);

/// LLVM's state for one attempt, in place of what the user's options say about
/// inlining.
class InliningOf {
public:
  explicit InliningOf(const Attempt &Asked);
  InliningOf(const InliningOf &) = delete;
  /// Another module may follow.
  ~InliningOf();

private:
  const llvm::InliningAdvisorMode Before;
};

} // namespace mlgo::search

#endif // MLGO_RELEASE_SEARCH_BACKENDJOB_H
