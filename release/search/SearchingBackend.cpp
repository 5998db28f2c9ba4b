// clang's back end, once for each attempt of a search (README.md).
//
// The linker sends clang's calls of emitBackendOutput here (BUILD.bazel). At that point the front end is through: what
// it prints and writes is printed and written once.
#include "CodeSize.h"
#include "EmbeddedModel.h"
#include "InlinerSizeModel.h"
#include "InliningDecisions.h"
#include "ModuleSearch.h"
#include "NamedOption.h"
#include "SilentChild.h"
#include "UsageError.h"

#include "clang/Basic/CodeGenOptions.h"
#include "clang/Basic/Diagnostic.h"
#include "clang/CodeGen/BackendUtil.h"
#include "clang/Frontend/CompilerInstance.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallString.h"
#include "llvm/ADT/SmallVector.h"
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

  void emit(Output To) const { emit(Action, std::move(To)); }
  void emit(BackendAction As, Output To) const {
    emitOnce(CI, Options, DataLayout, &M, As, Files, std::move(To), Consumer);
  }
};

constexpr StringRef SearchOption = "mlgo-search", SearchFlag = "-mlgo-search";
constexpr StringRef AllocationsOption = "mlgo-allocations";
constexpr StringRef AdvisorMode = "enable-ml-inliner";
constexpr StringRef GivenDecisions = "mlgo-decisions";
constexpr StringRef TakenDecisions = "mlgo-decisions-taken";
constexpr StringRef ReplayDecisions = "mlgo-decisions-replay";

// Empty: the option's default.
void setOption(StringRef Name, StringRef Value) {
  optionNamed(Name).reset();
  if (!Value.empty())
    optionNamed(Name).addOccurrence(0, Name, Value);
}

cl::opt<InliningAdvisorMode> &advisorMode() { return static_cast<cl::opt<InliningAdvisorMode> &>(optionNamed(AdvisorMode)); }

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

// Notes the first error. Its messages appear in the compile that is kept.
class ErrorText final : public clang::DiagnosticConsumer {
public:
  std::string First;

private:
  void HandleDiagnostic(clang::DiagnosticsEngine::Level As, const clang::Diagnostic &Message) override {
    DiagnosticConsumer::HandleDiagnostic(As, Message);
    if (As < clang::DiagnosticsEngine::Error || !First.empty())
      return;
    SmallString<128> Text;
    Message.FormatDiagnostic(Text);
    First = std::string(Text);
  }
};

// In a child. The former consumer is never destroyed: its destructor may write.
ErrorText &noteErrorsOf(clang::DiagnosticsEngine &Diagnostics) {
  (void)Diagnostics.takeClient().release();
  auto *const Noted = new ErrorText;
  Diagnostics.setClient(Noted);
  return *Noted;
}

Functions definedIn(const Module &M) {
  Functions Names;
  for (const Function &F : M)
    if (!F.isDeclaration())
      Names.insert(escaped(GlobalValue::dropLLVMManglingEscape(F.getName()).str()));
  return Names;
}

// In a child: what it sends are the object, which LLVM reads at an aligned address alone, the decisions that it took, and
// their length.
[[noreturn]] void compileAndSend(const Job &Of, const Attempt &Asked) {
  const ErrorText &Errors = noteErrorsOf(Of.CI.getDiagnostics());
  writeNothingBesides(Of.Options);
  setOption(ReplayDecisions, "");
  setOption(TakenDecisions, "");
  std::string Taken;
  takeDecisionsInto(Asked.AsReleased ? nullptr : &Taken);
  const InliningOf Attempted(Asked);
  SmallVector<char, 0> Object;
  Of.emit(clang::Backend_EmitObj, std::make_unique<raw_svector_ostream>(Object));
  if (Of.CI.getDiagnostics().hasErrorOccurred())
    loseTry(Errors.First);
  sendToParent((StringRef(Object.data(), Object.size()) + Taken + "\n" + Twine(Taken.size())).str());
}

// Empty: the try is lost.
std::optional<Build> compile(const Job &Of, const Functions &Defined, const Attempt &Asked) {
  const Forked Copy = forkSilently(SearchFlag);
  if (Copy.IsChild)
    compileAndSend(Of, Asked);
  if (!Copy.Sent)
    return std::nullopt;
  const auto Refuse = [](const Twine &Why) {
    endWithUsageError(Twine(SearchFlag) + ": a copy of the compiler sent an object that cannot be read: " + Why +
                      "; report this with the module, or remove the option");
  };
  const auto [Content, Length] = StringRef(*Copy.Sent).rsplit('\n');
  size_t TakenBytes;
  if (Length.getAsInteger(10, TakenBytes) || TakenBytes > Content.size())
    Refuse("it is not whole");
  auto Object = object::ObjectFile::createObjectFile(MemoryBufferRef(Content.drop_back(TakenBytes), SearchOption));
  if (!Object)
    Refuse(toString(Object.takeError()));
  Build Result;
  Result.Decided = decisionsIn(std::string_view(Content.take_back(TakenBytes)));
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
  if (Of.Action != clang::Backend_EmitObj && Of.Action != clang::Backend_EmitAssembly) {
    // Nothing is optimised in the first steps of -save-temps.
    if (!Of.Options.DisableLLVMPasses)
      say(Of.CI, Level::Warning, SearchOption,
          "has no effect, because this compile makes no code. Remove the option, or -flto or -emit-llvm");
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
  if (!isGiven(AllocationsOption) || Of.Options.DisableLLVMPasses)
    return;
  if (Of.Action != clang::Backend_EmitObj && Of.Action != clang::Backend_EmitAssembly)
    say(Of.CI, Level::Warning, AllocationsOption,
        "has no effect, because this compile allocates no registers. Remove the option, or -flto or -emit-llvm");
  else if (Of.Options.OptimizationLevel == 0)
    say(Of.CI, Level::Warning, AllocationsOption,
        "has no effect, because -O0 allocates registers in another way. Remove the option, or give -O1 or more");
}

// A first try that is lost must be lost by the compile too, which then tells why.
void repeatLost(const Job &Of, const Attempt &Lost) {
  std::string Taken;
  takeDecisionsInto(Lost.AsReleased ? nullptr : &Taken);
  const InliningOf Repeated(Lost);
  SmallVector<char, 0> Nowhere;
  Of.emit(clang::Backend_EmitObj, std::make_unique<raw_svector_ostream>(Nowhere));
  takeDecisionsInto(nullptr);
  if (!Of.CI.getDiagnostics().hasErrorOccurred())
    say(Of.CI, Level::Error, SearchOption,
        "the first try failed in a copy of the compiler, and not in the compiler itself. Report this with the module, "
        "or remove the option");
}

void search(const Job &Of, Output To) {
  // The user asked for no policy: it decides where its object is the smallest.
  if (!isGiven(AdvisorMode))
    setOption("mlgo-warn-unmeasured", "false");
  const Functions Defined = definedIn(Of.M);
  const Compile Run = [&](const Attempt &Asked) { return compile(Of, Defined, Asked); };
  const Found Result = searchModule(Run, Tries, InlinerSizeModel::slot().Count != 0);
  if (Result.Lost) {
    repeatLost(Of, *Result.Lost);
    return;
  }
  std::optional<InliningOf> Chosen;
  if (Result.Best)
    Chosen.emplace(*Result.Best);
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
  else if (Tries > 1 && mlgo::isGiven(GivenDecisions))
    say(CI, Level::Error, SearchOption, "-mlgo-decisions has taken the decisions. Remove one of the two options");
  else if (Tries == 1 || !canSearch(Asked))
    Asked.emit(std::move(To));
  else
    search(Asked, std::move(To));
}
