// clang's back end, once for each attempt of a search (README.md).
//
// The linker sends clang's calls of emitBackendOutput here (BUILD.bazel). At that point the front end is through: what
// it prints and writes is printed and written once.
#include "Child.h"
#include "CodeSize.h"
#include "EmbeddedModel.h"
#include "InlinerSizeModel.h"
#include "InliningDecisions.h"
#include "ModuleSearch.h"

#include "clang/Basic/CodeGenOptions.h"
#include "clang/Basic/Diagnostic.h"
#include "clang/CodeGen/BackendUtil.h"
#include "clang/Frontend/CompilerInstance.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/Analysis/InlineAdvisor.h"
#include "llvm/IR/DataLayout.h"
#include "llvm/IR/Function.h"
#include "llvm/IR/Module.h"
#include "llvm/Object/ObjectFile.h"
#include "llvm/Support/CommandLine.h"
#include "llvm/Support/MemoryBuffer.h"
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

// clang's function.
void emitOnce(CompilerInstance &, CodeGenOptions &, StringRef, Module *, BackendAction, FileSystem, Output,
              BackendConsumer *) __asm__(MLGO_REAL_EMIT_BACKEND_OUTPUT);
// What clang calls in its place.
void emitSearching(CompilerInstance &, CodeGenOptions &, StringRef, Module *, BackendAction, FileSystem, Output,
                   BackendConsumer *) __asm__(MLGO_WRAPPED_EMIT_BACKEND_OUTPUT);

static cl::opt<unsigned> Tries(
    "mlgo-search", cl::Hidden, cl::init(1), cl::value_desc("N"),
    cl::desc("Compile each module for size up to N times with different inlining decisions, and emit the smallest "
             "object. Default: 1"));

namespace mlgo::search {
namespace {

// What a back end is called with, but for its output.
struct Job {
  CompilerInstance &CI;
  CodeGenOptions &Options;
  StringRef DataLayout;
  Module &M;
  BackendAction Action;
  FileSystem Files;
  BackendConsumer *Consumer;

  void emit(Output To) const { emitOnce(CI, Options, DataLayout, &M, Action, Files, std::move(To), Consumer); }
};

constexpr StringRef SearchOption = "mlgo-search";
constexpr StringRef AllocationsOption = "mlgo-allocations";
constexpr StringRef AdvisorMode = "enable-ml-inliner";
constexpr StringRef GivenDecisions = "mlgo-decisions";
constexpr StringRef TakenDecisions = "mlgo-decisions-taken";
constexpr StringRef ReplayDecisions = "mlgo-decisions-replay";

cl::Option &option(StringRef Name) { return *cl::getRegisteredOptions().find(Name)->second; }
// Compilers before LLVM 22 do not have all of the options.
bool isGiven(StringRef Name) {
  const auto Found = cl::getRegisteredOptions().find(Name);
  return Found != cl::getRegisteredOptions().end() && Found->second->getNumOccurrences() > 0;
}

// Empty: the option's default.
void setOption(StringRef Name, StringRef Value) {
  option(Name).reset();
  if (!Value.empty())
    option(Name).addOccurrence(0, Name, Value);
}

cl::opt<InliningAdvisorMode> &advisorMode() { return static_cast<cl::opt<InliningAdvisorMode> &>(option(AdvisorMode)); }

// LLVM's state for one attempt, in place of what the user's options say about inlining.
class InliningOf {
public:
  explicit InliningOf(const Attempt &Asked) : Before(advisorMode()) {
    const bool IsDefault = Asked.Elsewhere == Otherwise();
    // The account of decisions is an advisor's, which the default has none of.
    if (!Asked.AsReleased || (IsDefault && (isGiven(TakenDecisions) || isGiven(ReplayDecisions))))
      giveDecisions(fileOf(Asked));
    else if (IsDefault)
      advisorMode() = InliningAdvisorMode::Default;
    else
      setOption(AdvisorMode, "release");
  }
  InliningOf(const InliningOf &) = delete;
  // Another module may follow.
  ~InliningOf() {
    withdrawDecisions();
    advisorMode() = Before;
  }

private:
  const InliningAdvisorMode Before;
};

// Of the files that a back end opens itself, none but the object's. The code is the same without them.
void writeNothingBesides(CodeGenOptions &Options) {
  Options.SplitDwarfOutput.clear();
  Options.StackUsageOutput.clear();
  Options.SaveTempsFilePrefix.clear();
}

// Its messages appear in the compile that is kept.
void saySoNowhere(clang::DiagnosticsEngine &Diagnostics) {
  // Never destroyed: its destructor may write.
  (void)Diagnostics.takeClient().release();
  Diagnostics.setClient(new clang::IgnoringDiagConsumer);
}

Functions definedIn(const Module &M) {
  Functions Names;
  for (const Function &F : M)
    if (!F.isDeclaration())
      Names.insert(escaped(GlobalValue::dropLLVMManglingEscape(F.getName()).str()));
  return Names;
}

std::optional<Build> compile(const Job &Of, const Functions &Defined, const Attempt &Asked) {
  MemoryFile Code, Taken;
  if (!Code.isOpen() || !Taken.isOpen())
    return std::nullopt;
  const bool Done = succeedsInChild([&] {
    saySoNowhere(Of.CI.getDiagnostics());
    writeNothingBesides(Of.Options);
    setOption(ReplayDecisions, "");
    setOption(TakenDecisions, Asked.AsReleased ? "" : Taken.path());
    const InliningOf Attempted(Asked);
    Of.emit(std::make_unique<raw_fd_ostream>(Code.descriptor(), /*shouldClose=*/false));
    return !Of.CI.getDiagnostics().hasErrorOccurred();
  });
  const auto Content = Done ? Code.content() : nullptr, Decided = Done ? Taken.content() : nullptr;
  if (!Content || !Decided)
    return std::nullopt;
  auto Object = object::ObjectFile::createObjectFile(*Content);
  if (!Object) {
    consumeError(Object.takeError());
    return std::nullopt;
  }
  Build Result;
  Result.Decided = decisionsIn(std::string_view(Decided->getBuffer()));
  addSizes(Result, **Object, Defined, Of.M.getDataLayout().getGlobalPrefix());
  return Result;
}

using Level = clang::DiagnosticsEngine::Level;

void say(CompilerInstance &CI, Level As, StringRef Option, const Twine &Message) {
  clang::DiagnosticsEngine &Diagnostics = CI.getDiagnostics();
  Diagnostics.Report(Diagnostics.getCustomDiagID(As, "-%0: %1")) << Option << Message.str();
}

// Whether a search can make the code smaller. Says so once if the user may have expected that.
bool canSearch(const Job &Of) {
  if (Of.Action != clang::Backend_EmitObj) {
    say(Of.CI, Level::Warning, SearchOption,
        "has no effect, because this compile writes no object. Remove the option, or -flto, -S or -emit-llvm");
    return false;
  }
  const auto HasBody = [](const Function &F) { return !F.isDeclaration(); };
  const auto IsForSize = [](const Function &F) { return !F.isDeclaration() && F.hasOptSize(); };
  if (none_of(Of.M, IsForSize)) {
    // Sanitizers add local functions to modules of data, which have nothing to search for.
    if (any_of(Of.M, [&](const Function &F) { return HasBody(F) && !F.hasLocalLinkage(); }))
      say(Of.CI, Level::Warning, SearchOption,
          "has no effect, because " + Of.M.getModuleIdentifier() +
              " has no function that is optimised for size. Compile with -Oz or -Os, or remove the option");
    return false;
  }
  return count_if(Of.M, HasBody) > 1;
}

// The search of SearchedAllocations.cpp, which such a compile never reaches.
void warnIfNothingIsAllocated(const Job &Of) {
  if (isGiven(AllocationsOption) && Of.Action != clang::Backend_EmitObj && Of.Action != clang::Backend_EmitAssembly)
    say(Of.CI, Level::Warning, AllocationsOption,
        "has no effect, because this compile allocates no registers. Remove the option, or -flto or -emit-llvm");
}

void search(const Job &Of, Output To) {
  const Functions Defined = definedIn(Of.M);
  const Compile Run = [&](const Attempt &Asked) { return compile(Of, Defined, Asked); };
  const std::optional<Attempt> Best = searchModule(Run, Tries, InlinerSizeModel::slot().Count != 0);
  if (!Best) {
    Of.emit(std::move(To));
    return;
  }
  const InliningOf Chosen(*Best);
  Of.emit(std::move(To));
}

} // namespace
} // namespace mlgo::search

void emitSearching(CompilerInstance &CI, CodeGenOptions &Options, StringRef DataLayout, Module *M, BackendAction Action,
                   FileSystem Files, Output To, BackendConsumer *Consumer) {
  using namespace mlgo::search;
  const Job Asked = {CI, Options, DataLayout, *M, Action, std::move(Files), Consumer};
  warnIfNothingIsAllocated(Asked);
  if (Tries == 0)
    say(CI, Level::Error, SearchOption, "0 compiles write no object. Give 1 or more");
  else if (Tries > 1 && isGiven(GivenDecisions))
    say(CI, Level::Error, SearchOption, "-mlgo-decisions has taken the decisions. Remove one of the two options");
  else if (Tries == 1 || !canSearch(Asked))
    Asked.emit(std::move(To));
  else
    search(Asked, std::move(To));
}
