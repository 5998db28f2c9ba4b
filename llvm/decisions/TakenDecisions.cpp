// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "TakenDecisions.h"
#include "UsageError.h"

#include "llvm/ADT/StringMap.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/Analysis/InlineAdvisor.h"
#include "llvm/Analysis/OptimizationRemarkEmitter.h"
#include "llvm/Analysis/ReplayInlineAdvisor.h"
#include "llvm/IR/DiagnosticInfo.h"
#include "llvm/IR/InstrTypes.h"
#include "llvm/IR/LLVMContext.h"
#include "llvm/IR/Module.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/raw_ostream.h"

#include <mutex>
#include <string>
#include <system_error>

using namespace llvm;

void mlgo::writeTaken(const WrittenFile &To, StringRef Source,
                      StringRef Lines) {
  static std::mutex Mutex;
  static StringMap<StringSet<>> SourcesByPath;
  const std::lock_guard<std::mutex> Lock(Mutex);
  const auto [Entry, First] = SourcesByPath.try_emplace(To.Path);
  if (!Entry->second.insert(Source).second && !To.RepeatsSources)
    endWithUsageError("-" + To.Option + ": this program inlines in " + Source +
                      " a second time, and " + To.Path +
                      " can name a source once. Compile each source once, and "
                      "sources of one name by different paths");
  std::error_code Error;
  raw_fd_ostream File(
      To.Path, Error,
      First ? sys::fs::CD_CreateAlways : sys::fs::CD_OpenExisting,
      sys::fs::FA_Write, First ? sys::fs::OF_None : sys::fs::OF_Append);
  if (!Error) {
    File << (First ? To.Head : "") << Lines;
    File.close();
    Error = File.error();
    File.clear_error();
  }
  if (Error)
    endWithUsageError("-" + To.Option + ": cannot write " + To.Path + ": " +
                      Error.message());
}

void mlgo::reportCoverage(Module &M, const Coverage &Of) {
  for (const Function &F : M) {
    if (F.isDeclaration())
      continue;
    OptimizationRemarkAnalysis Remark("mlgo-decisions", "Coverage",
                                      DiagnosticLocation(F.getSubprogram()),
                                      &F.getEntryBlock());
    Remark << ore::NV("Applied", static_cast<unsigned>(Of.Applied)) << " of "
           << ore::NV("Decisions", static_cast<unsigned>(Of.Given)) << " "
           << Of.Decisions << " of " << ore::NV("File", Of.Path) << " applied; "
           << ore::NV("NotNamed", static_cast<unsigned>(Of.Unnamed)) << " "
           << Of.Questions << " asked that it does not name";
    M.getContext().diagnose(Remark);
    return;
  }
}

std::string mlgo::replayLine(const CallBase &CB, bool Inline) {
  const std::string Site = formatCallSiteLocation(
      CB.getDebugLoc(), {CallSiteFormat::Format::LineColumnDiscriminator});
  const StringRef Callee = CB.getCalledFunction()->getName(),
                  Caller = CB.getCaller()->getName();
  // LLVM ends the compile at a line that it cannot take apart.
  for (const StringRef Name : {Callee, Caller, StringRef(Site)})
    if (Name.empty() || Name.find_first_of("';\n") != StringRef::npos)
      return {};
  return ("mlgo: '" + Callee +
          (Inline ? "' inlined into '" : "' will not be inlined into '") +
          Caller + "' at callsite " + Site + ";\n")
      .str();
}
