// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

/// \file
/// clang's back end, once for each attempt of a search (README.md).
///
/// The linker sends clang's calls of emitBackendOutput here (BUILD.bazel). At
/// that point the front end is through: what it prints and writes is printed
/// and written once.

#include "BackendJob.h"
#include "CostFile.h"
#include "EmbeddedModel.h"
#include "InliningDecisions.h"
#include "Options.h"
#include "SharedCompile.h"

#include "clang/Basic/CodeGenOptions.h"
#include "clang/Basic/Diagnostic.h"
#include "clang/CodeGen/BackendUtil.h"
#include "clang/Frontend/CompilerInstance.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/Analysis/InlineAdvisor.h"
#include "llvm/Analysis/OptimizationRemarkEmitter.h"
#include "llvm/IR/DiagnosticInfo.h"
#include "llvm/IR/Function.h"
#include "llvm/IR/Module.h"
#include "llvm/Support/CommandLine.h"
#include "llvm/Support/TimeProfiler.h"
#include "llvm/Support/VirtualFileSystem.h"
#include "llvm/Support/raw_ostream.h"

#include <memory>
#include <optional>
#include <string>
#include <utility>

using namespace llvm;
using clang::BackendAction;
using clang::BackendConsumer;
using clang::CodeGenOptions;
using clang::CompilerInstance;

using FileSystem = IntrusiveRefCntPtr<vfs::FileSystem>;
using Output = std::unique_ptr<raw_pwrite_stream>;

/// clang's function.
void emitOnce(CompilerInstance &, CodeGenOptions &, StringRef, Module *,
              BackendAction, FileSystem, Output,
              BackendConsumer *) __asm__(MLGO_REAL_EMIT_BACKEND_OUTPUT);
/// What clang calls in its place.
void emitSearching(CompilerInstance &, CodeGenOptions &, StringRef, Module *,
                   BackendAction, FileSystem, Output,
                   BackendConsumer *) __asm__(MLGO_WRAPPED_EMIT_BACKEND_OUTPUT);

static cl::opt<unsigned>
    Tries("mlgo-search", cl::Hidden, cl::init(1), cl::value_desc("N"),
          cl::desc("Compile each module for size up to N times with different "
                   "inlining decisions, and emit the smallest "
                   "object. Default: 1"));

namespace mlgo::search {

void Job::emit(BackendAction As, Output To) const {
  emitOnce(CI, Options, DataLayout, &M, As, Files, std::move(To), Consumer);
}

void setOption(StringRef Name, StringRef Value) {
  optionNamed(Name).reset();
  if (!Value.empty())
    optionNamed(Name).addOccurrence(0, Name, Value);
}

static cl::opt<InliningAdvisorMode> &advisorMode() {
  return optionNamed<InliningAdvisorMode>(AdvisorMode);
}

InliningOf::InliningOf(const Attempt &Asked) : Before(advisorMode()) {
  const bool IsDefault = Asked.Elsewhere == Otherwise();
  // The account of decisions is an advisor's, which the default has none of.
  if (!Asked.AsReleased ||
      (IsDefault && (isGiven(TakenDecisions) || isGiven(ReplayDecisions))))
    giveDecisions(fileOf(Asked));
  else if (IsDefault)
    advisorMode() = InliningAdvisorMode::Default;
  else
    setOption(AdvisorMode, "release");
}

InliningOf::~InliningOf() {
  withdrawDecisions();
  advisorMode() = Before;
}

namespace {

constexpr StringRef AllocationsOption = "mlgo-allocations";
constexpr StringRef GivenDecisions = "mlgo-decisions";

using Level = clang::DiagnosticsEngine::Level;

void say(CompilerInstance &CI, Level As, StringRef Option,
         const Twine &Message) {
  clang::DiagnosticsEngine &Diagnostics = CI.getDiagnostics();
  Diagnostics.Report(Diagnostics.getCustomDiagID(As, "-%0: %1"))
      << Option << Message.str();
}

bool makesCode(const Job &Of) {
  return Of.Action == clang::Backend_EmitObj ||
         Of.Action == clang::Backend_EmitAssembly;
}

/// Whether a search can make the code smaller. Says so once if the user may
/// have expected that.
bool canSearch(const Job &Of) {
  // Nothing is optimised in the first steps of -save-temps.
  if (!makesCode(Of) && Of.Options.DisableLLVMPasses)
    return false;
  const bool LinkerMakesCode = !makesCode(Of) && (Of.Options.PrepareForLTO ||
                                                  Of.Options.PrepareForThinLTO);
  if (LinkerMakesCode || Of.Action == clang::Backend_EmitNothing) {
    say(Of.CI, Level::Warning, SearchOption,
        LinkerMakesCode
            ? "has no effect, because the linker makes the code. Remove the "
              "option, or -flto"
            : "has no effect, because this compile makes no code. Remove the "
              "option");
    return false;
  }
  const auto HasBody = [](const Function &F) { return !F.isDeclaration(); };
  const auto IsForSize = [](const Function &F) {
    return !F.isDeclaration() && F.hasOptSize();
  };
  if (none_of(Of.M, IsForSize)) {
    // Sanitizers add local functions to modules of data, which have nothing to
    // search for.
    if (any_of(Of.M, [&](const Function &F) {
          return HasBody(F) && !F.hasLocalLinkage();
        }))
      say(Of.CI, Level::Warning, SearchOption,
          "has no effect, because " + Of.M.getModuleIdentifier() +
              " has no function that is optimised for size. Compile with -Oz "
              "or -Os, or remove the option");
    return false;
  }
  if (count_if(Of.M, HasBody) < 2)
    return false;
  // Two compiles need no account of their decisions.
  if (Tries > 2 && any_of(Of.M, [&](const Function &F) {
        return HasBody(F) && !F.hasName();
      })) {
    say(Of.CI, Level::Warning, SearchOption,
        "has no effect, because " + Of.M.getModuleIdentifier() +
            " has a function without a name, and decisions are found by names. "
            "Name it (opt -passes=name-anon-globals), or give -mlgo-search=2");
    return false;
  }
  return true;
}

/// The pass of SearchedAllocations.cpp, which such a compile never reaches.
void warnIfNothingIsAllocated(const Job &Of) {
  if (Of.Options.DisableLLVMPasses)
    return;
  if (makesCode(Of) && Of.Options.OptimizationLevel > 0)
    return;
  for (const StringRef Option : {AllocationsOption, CostFileOption})
    if (isGiven(Option))
      say(Of.CI, Level::Warning, Option,
          makesCode(Of)
              ? "has no effect, because -O0 allocates registers in another "
                "way. Remove the option, or give -O1 or more"
              : "has no effect, because this compile allocates no registers. "
                "Remove the option, or -flto or -emit-llvm");
}

/// Whether the object is all that the user sees of a compile.
bool isObjectAlone(const Job &Of) {
  const CodeGenOptions &Options = Of.Options;
  return Of.Action == clang::Backend_EmitObj &&
         Options.SplitDwarfOutput.empty() && (Options.*StackUsage).empty() &&
         Options.SaveTempsFilePrefix.empty() && Options.OptRecordFile.empty() &&
         !Options.TimePasses && Of.CI.getFrontendOpts().StatsFile.empty() &&
         !timeTraceProfilerEnabled() && !isGiven(TakenDecisions) &&
         !isGiven(ReplayDecisions) && !isGiven(CostFileOption);
}

/// A first try that is lost must be lost by the compile too, which then tells
/// why.
void repeatLost(const Job &Of) {
  const InliningOf Repeated({{}, {}, true});
  SmallVector<char, 0> Nowhere;
  Of.emit(clang::Backend_EmitObj,
          std::make_unique<raw_svector_ostream>(Nowhere));
  if (!Of.CI.getDiagnostics().hasErrorOccurred())
    say(Of.CI, Level::Error, SearchOption,
        "the first try failed in a copy of the compiler, and not in the "
        "compiler itself. Report this with the module, "
        "or remove the option");
}

/// For -Rpass=mlgo-search.
void remark(const Job &Of, const Searched &Done) {
  const auto First =
      find_if(Of.M, [](const Function &F) { return !F.isDeclaration(); });
  OptimizationRemark Remark(SearchOption.data(), "Searched",
                            DiagnosticLocation(First->getSubprogram()),
                            &First->getEntryBlock());
  Remark << ore::NV("Module", Of.M.getModuleIdentifier()) << ": "
         << ore::NV("Bytes", Done.BytesAfter) << " bytes of code, by default "
         << ore::NV("BytesOfDefault", Done.BytesBefore) << "; "
         << ore::NV("Compiles", Done.Compiles) << " compiles";
  Of.M.getContext().diagnose(Remark);
}

void search(const Job &Of, Output To) {
  // The user asked for no policy: it decides where its object is the smallest.
  if (!isGiven(AdvisorMode))
    setOption("mlgo-warn-unmeasured", "false");
  const std::optional<Searched> Done = searchInCopy(Of, Tries);
  if (!Done)
    return repeatLost(Of);
  if (!Done->Chosen)
    return Of.emit(Of.Action, std::move(To));
  remark(Of, *Done);
  if (isObjectAlone(Of) && !Done->Prints) {
    *To << Done->Object;
    return;
  }
  const InliningOf Chosen(*Done->Chosen);
  Of.emit(Of.Action, std::move(To));
}

} // namespace
} // namespace mlgo::search

void emitSearching(CompilerInstance &CI, CodeGenOptions &Options,
                   StringRef DataLayout, Module *M, BackendAction Action,
                   FileSystem Files, Output To, BackendConsumer *Consumer) {
  using namespace mlgo::search;
  const Job Asked = {CI,     Options,          DataLayout, *M,
                     Action, std::move(Files), Consumer};
  warnIfNothingIsAllocated(Asked);
  if (Tries == 0)
    say(CI, Level::Error, SearchOption,
        "0 compiles write no object. Give 1 or more");
  else if (Tries > 1 && mlgo::isGiven(GivenDecisions))
    say(CI, Level::Error, SearchOption,
        "-mlgo-decisions has taken the decisions. Remove one of the two "
        "options");
  else if (Tries == 1 || !canSearch(Asked))
    Asked.emit(Action, std::move(To));
  else
    search(Asked, std::move(To));
}
