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
#include "InlinerSizeModel.h"
#include "InliningDecisions.h"
#include "Options.h"
#include "PolicyTarget.h"
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
#include "llvm/MC/TargetRegistry.h"
#include "llvm/Support/CommandLine.h"
#include "llvm/Support/TimeProfiler.h"
#include "llvm/Support/VirtualFileSystem.h"
#include "llvm/Support/raw_ostream.h"
#include "llvm/TargetParser/Triple.h"

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

bool hasBody(const Function &F) { return !F.isDeclaration(); }

/// Whether a try can be measured: the target has objects that LLVM reads.
bool hasObjects(const Module &M) {
  const Triple Of(M.getTargetTriple());
  std::string Error;
  const Target *const Found = TargetRegistry::lookupTarget(Of, Error);
  return Found && Found->hasMCAsmBackend() &&
         (Of.isOSBinFormatELF() || Of.isOSBinFormatCOFF() ||
          Of.isOSBinFormatMachO() || Of.isOSBinFormatWasm());
}

/// Why no search can make the code smaller, as the end of a sentence. Empty
/// optional: one can. Empty text: the user cannot have expected one.
std::optional<std::string> obstacleTo(const Job &Of) {
  // Nothing is optimised in the first steps of -save-temps.
  if (!makesCode(Of) && Of.Options.DisableLLVMPasses)
    return "";
  if (!makesCode(Of) &&
      (Of.Options.PrepareForLTO || Of.Options.PrepareForThinLTO))
    return "the linker makes the code. Remove the option, or -flto";
  if (Of.Action == clang::Backend_EmitNothing)
    return "this compile makes no code. Remove the option";
  const std::string Name = Of.M.getModuleIdentifier();
  if (none_of(Of.M,
              [](const Function &F) { return hasBody(F) && F.hasOptSize(); })) {
    // Sanitizers add local functions to modules of data, which have nothing to
    // search for.
    const bool HasCode = any_of(Of.M, [](const Function &F) {
      return hasBody(F) && !F.hasLocalLinkage();
    });
    return HasCode ? Name + " has no function that is optimised for size. "
                            "Compile with -Oz or -Os, or remove the option"
                   : "";
  }
  if (!hasObjects(Of.M))
    return "sizes cannot be read in what is made for " +
           Of.M.getTargetTriple().str() + ". Remove the option";
  // Two compiles need no account of their decisions.
  if (Tries > 2 && any_of(Of.M, [](const Function &F) {
        return hasBody(F) && !F.hasName();
      }))
    return Name + " has a function without a name, and decisions are found by "
                  "names. Name it (opt -passes=name-anon-globals), or give "
                  "-mlgo-search=2";
  return std::nullopt;
}

/// Whether a search can make the code smaller. Otherwise says why, unless two
/// compiles are asked for: a configuration file does so, which build systems
/// give to all commands.
bool canSearch(const Job &Of) {
  const std::optional<std::string> Obstacle = obstacleTo(Of);
  if (Obstacle && !Obstacle->empty() && Tries > 2)
    say(Of.CI, Level::Warning, SearchOption,
        "has no effect, because " + *Obstacle);
  return !Obstacle;
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

void emitByDefault(const Job &Of, BackendAction As, Output To) {
  const InliningOf Released(ReleasedDefault);
  Of.emit(As, std::move(To));
}

/// A first try that is lost must be lost by the compile too, which then tells
/// why. Assembly may have what LLVM's assembler does not take: then there is no
/// size to compare, and the compile is the default's.
void repeatLost(const Job &Of, Output To) {
  if (Of.Action != clang::Backend_EmitObj)
    return emitByDefault(Of, Of.Action, std::move(To));
  SmallVector<char, 0> Nowhere;
  emitByDefault(Of, clang::Backend_EmitObj,
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

/// A selector that names no policy ends the process. In a copy of it that would
/// be a lost try.
void requireNamedPolicy(const Module &M) {
  const mlgo::PolicyTarget Target{Triple(M.getTargetTriple())};
  mlgo::chosenPolicy(InlinerSizeModel::slot());
}

/// Whether other options leave nothing to search: all decisions are given, or
/// there is no policy to compare the default with, or another process answers
/// in its place.
bool isDecided() {
  const mlgo::PolicySlot &Slot = InlinerSizeModel::slot();
  const StringRef Channel = mlgo::usageOf(Slot).Channel;
  return isGiven(GivenDecisions) ||
         (Tries == 2 && (Slot.Count == 0 || isGiven(Channel.ltrim('-'))));
}

void search(const Job &Of, Output To) {
  // No call to decide about. The policy's compile could still differ a little,
  // by the analyses that it leaves.
  if (count_if(Of.M, hasBody) < 2)
    return emitByDefault(Of, Of.Action, std::move(To));
  requireNamedPolicy(Of.M);
  // The policy decides only where its object is the smallest.
  setOption("mlgo-warn-unmeasured", "false");
  const std::optional<Searched> Done = searchInCopy(Of, Tries);
  if (!Done)
    return repeatLost(Of, std::move(To));
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
  else if (Tries > 2 && mlgo::isGiven(GivenDecisions))
    say(CI, Level::Error, SearchOption,
        "-mlgo-decisions has taken the decisions. Remove one of the two "
        "options");
  else if (Tries == 1 || isDecided() || !canSearch(Asked))
    Asked.emit(Action, std::move(To));
  else
    search(Asked, std::move(To));
}
