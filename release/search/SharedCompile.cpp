// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "SharedCompile.h"

#include "CodeSize.h"
#include "CostFile.h"
#include "EmbeddedModel.h"
#include "InlinerSizeModel.h"
#include "InliningDecisions.h"
#include "KnownCode.h"
#include "ModuleSearch.h"
#include "SilentChild.h"

#include "clang/Basic/CodeGenOptions.h"
#include "clang/Basic/Diagnostic.h"

#include "llvm/ADT/SmallString.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/IR/DataLayout.h"
#include "llvm/IR/Function.h"
#include "llvm/IR/PassInstrumentation.h"
#include "llvm/Object/ObjectFile.h"
#include "llvm/Passes/PassBuilder.h"
#include "llvm/Support/MemoryBuffer.h"

#include <initializer_list>
#include <memory>
#include <utility>
#include <vector>

using namespace llvm;

namespace mlgo::search {
namespace {

/// Of the files that a back end opens itself, none but the object's. The code
/// is the same without them.
void writeNothingBesides(clang::CodeGenOptions &Options) {
  Options.SplitDwarfOutput.clear();
  (Options.*StackUsage).clear();
  Options.SaveTempsFilePrefix.clear();
}

/// Notes the first error, and whether there was any message.
class Messages final : public clang::DiagnosticConsumer {
public:
  std::string FirstError;
  bool Any = false;

private:
  void HandleDiagnostic(clang::DiagnosticsEngine::Level As,
                        const clang::Diagnostic &Message) override {
    DiagnosticConsumer::HandleDiagnostic(As, Message);
    Any = true;
    if (As < clang::DiagnosticsEngine::Error || !FirstError.empty())
      return;
    SmallString<128> Text;
    Message.FormatDiagnostic(Text);
    FirstError = std::string(Text);
  }
};

/// The former consumer is never destroyed: its destructor may write.
Messages &noteMessagesOf(clang::DiagnosticsEngine &Diagnostics) {
  (void)Diagnostics.takeClient().release();
  auto *const Noted = new Messages;
  Diagnostics.setClient(Noted);
  return *Noted;
}

Functions definedIn(const Module &M) {
  Functions Names;
  for (const Function &F : M)
    if (!F.isDeclaration())
      Names.insert(
          escaped(GlobalValue::dropLLVMManglingEscape(F.getName()).str()));
  return Names;
}

/// Whether code generation keeps each function in one piece.
bool keepsFunctionsWhole(const clang::CodeGenOptions &Options) {
  return !Options.SplitMachineFunctions &&
         (Options.BBSections.empty() || Options.BBSections == "none");
}

using Object = SmallVector<char, 0>;

StringRef textOf(const Object &Of) { return StringRef(Of.data(), Of.size()); }

/// The parts, and after them their lengths: an object that comes first keeps
/// its alignment.
std::string message(std::initializer_list<StringRef> Parts) {
  std::string Text, Lengths;
  for (const StringRef Part : Parts) {
    Text += Part;
    Lengths += " " + utostr(Part.size());
  }
  return Text + "\n" + Lengths;
}

std::vector<StringRef> partsOf(StringRef Message) {
  const auto [Text, Lengths] = Message.rsplit('\n');
  std::vector<StringRef> Parts;
  size_t From = 0;
  for (const StringRef Length : split(Lengths.drop_front(), ' ')) {
    size_t Size = 0;
    to_integer(Length, Size);
    Parts.push_back(Text.substr(From, Size));
    From += Size;
  }
  return Parts;
}

struct Kept {
  Attempt Asked;
  std::string Object;
  uint64_t CodeBytes;
  bool Prints;
};

/// A copy of clang's process that reaches the inliner once. There it becomes
/// the parent of a copy for each try, and itself the compile that the search
/// chose.
class SharedCompile {
public:
  SharedCompile(const Job &Of, unsigned Tries)
      : Of(Of), Tries(Tries), Said(noteMessagesOf(Of.CI.getDiagnostics())) {
    Printed = positionOfStreams();
  }

  [[noreturn]] void run() {
    writeNothingBesides(Of.Options);
    setOption(ReplayDecisions, "");
    setOption(TakenDecisions, "");
    setOption(CostFileOption, "");
    // The pipeline is the same for all tries: the advisor is made when the
    // inliner starts.
    replaceDefaultInliner();
    // Back ends of ThinLTO have a pipeline of their own.
    IsShared = Of.Options.ThinLTOIndexFile.empty();
    if (!IsShared)
      searchHere();
    else
      Of.Options.PassBuilderCallbacks.push_back([this](PassBuilder &Building) {
        Building.getPassInstrumentationCallbacks()
            ->registerBeforeNonSkippedPassCallback(
                [this](StringRef Pass, Any) { reach(Pass); });
      });
    if (IsShared)
      Of.emit(clang::Backend_EmitNothing, nullptr);
    if (IsTry)
      sendTry();
    sendChosen();
  }

private:
  void reach(StringRef Pass) {
    if (IsReached || Pass != "ModuleInlinerWrapperPass")
      return;
    IsReached = true;
    searchHere();
  }

  /// Returns in a try, and if the chosen compile is still to be made.
  void searchHere() {
    Defined = definedIn(Of.M);
    const Compile Run = [this](const Attempt &Asked, bool KeepsObject) {
      return tryInCopy(Asked, KeepsObject);
    };
    const Found Result =
        searchModule(Run, Tries, InlinerSizeModel::slot().Count != 0);
    if (IsTry)
      return;
    if (Result.Lost)
      loseTry();
    Answer.Chosen = *Result.Best;
    for (Kept &One : Objects)
      if (One.Asked == *Answer.Chosen)
        sendKept(One);
    follow(*Answer.Chosen);
  }

  Outcome tryInCopy(const Attempt &Asked, bool KeepsObject) {
    if (IsTry)
      return Outcome::endOfSearch();
    const Forked Copy = forkSilently(SearchFlag);
    if (Copy.IsChild) {
      IsTry = true;
      // Objects that are kept are complete.
      if (KeepsObject)
        Known.clear();
      follow(Asked);
      return Outcome::endOfSearch();
    }
    ++Answer.Compiles;
    if (!Copy.Sent)
      return {};
    return readTry(*Copy.Sent, KeepsObject ? &Asked : nullptr);
  }

  /// The parent of all tries has replaced the default inliner.
  void follow(const Attempt &Asked) {
    const bool IsDefault = Asked.AsReleased && Asked.Elsewhere == Otherwise();
    if (!Asked.AsReleased)
      giveDecisions(fileOf(Asked));
    else if (!IsDefault)
      setOption(AdvisorMode, "release");
    takeDecisionsInto(IsTry ? &Taken : nullptr);
  }

  void generate(Object &Into) {
    if (IsShared)
      Of.Options.DisableLLVMPasses = true;
    Of.Options.PassBuilderCallbacks.clear();
    Of.emit(clang::Backend_EmitObj,
            std::make_unique<raw_svector_ostream>(Into));
    if (Of.CI.getDiagnostics().hasErrorOccurred())
      loseTry(Said.FirstError);
  }

  bool prints() const { return Said.Any || positionOfStreams() != Printed; }
  static uint64_t positionOfStreams() { return outs().tell() + errs().tell(); }

  [[noreturn]] void sendTry() {
    // Otherwise an error may have kept the inliner from running.
    std::string Digests;
    if (IsShared && !Of.CI.getDiagnostics().hasErrorOccurred() &&
        keepsFunctionsWhole(Of.Options))
      Digests = replaceKnown(Of.M, Known);
    Object Code;
    generate(Code);
    sendToParent(
        message({textOf(Code), Taken, Digests, prints() ? "prints" : ""}));
  }

  /// LLVM reads objects at an aligned address alone.
  std::unique_ptr<object::ObjectFile> read(StringRef Code) {
    auto Read = object::ObjectFile::createObjectFile(
        MemoryBufferRef(Code, SearchOption));
    if (!Read)
      loseTry(toString(Read.takeError()));
    return std::move(*Read);
  }

  /// \param Kept of an object that is kept.
  Build readTry(StringRef Sent, const Attempt *Kept) {
    const std::vector<StringRef> Parts = partsOf(Sent);
    const auto Code = read(Parts[0]);
    addKnown(Known, Parts[2], *Code);
    Build Result;
    Result.Decided = decisionsIn(std::string_view(Parts[1]));
    addSizes(Result, *Code, Defined, Of.M.getDataLayout().getGlobalPrefix());
    if (Answer.Compiles == 1)
      Answer.BytesBefore = Result.CodeBytes;
    if (Kept)
      Objects.push_back(
          {*Kept, Parts[0].str(), Result.CodeBytes, !Parts[3].empty()});
    return Result;
  }

  [[noreturn]] void sendKept(Kept &One) {
    Answer.Chosen = One.Asked;
    Answer.Object = std::move(One.Object);
    Answer.BytesAfter = One.CodeBytes;
    Answer.Prints = One.Prints || prints();
    send();
  }

  /// The object of this very process.
  [[noreturn]] void sendChosen() {
    if (Of.CI.getDiagnostics().hasErrorOccurred())
      loseTry(Said.FirstError);
    if (!Answer.Chosen)
      send();
    Object Code;
    generate(Code);
    Build Made;
    addSizes(Made, *read(textOf(Code)), Defined,
             Of.M.getDataLayout().getGlobalPrefix());
    // An estimate of a try, in which functions were not generated again, may be
    // wrong.
    if (Made.CodeBytes > Answer.BytesBefore)
      sendKept(Objects.front());
    Answer.BytesAfter = Made.CodeBytes;
    Answer.Object = textOf(Code).str();
    Answer.Prints = prints();
    send();
  }

  [[noreturn]] void send() {
    std::string Rule, Released;
    if (Answer.Chosen) {
      Rule = fileOf(*Answer.Chosen);
      Released = Answer.Chosen->AsReleased ? "released" : "decided";
    }
    sendToParent(
        message({Answer.Object, Rule, Released, utostr(Answer.Compiles),
                 utostr(Answer.BytesBefore), utostr(Answer.BytesAfter),
                 Answer.Prints ? "prints" : ""}));
  }

  const Job &Of;
  const unsigned Tries;
  Messages &Said;
  uint64_t Printed = 0;
  Functions Defined;
  KnownCode Known;
  std::vector<Kept> Objects;
  Searched Answer;
  /// In a try.
  std::string Taken;
  bool IsTry = false;
  bool IsReached = false;
  bool IsShared = true;
};

} // namespace

std::optional<Searched> searchInCopy(const Job &Of, unsigned Tries) {
  const Forked Copy = forkSilently(SearchFlag);
  if (Copy.IsChild)
    SharedCompile(Of, Tries).run();
  if (!Copy.Sent)
    return std::nullopt;
  const std::vector<StringRef> Parts = partsOf(*Copy.Sent);
  Searched Answer;
  if (!Parts[2].empty()) {
    Answer.Chosen = attemptIn(std::string_view(Parts[1]));
    Answer.Chosen->AsReleased = Parts[2] == "released";
  }
  to_integer(Parts[3], Answer.Compiles);
  to_integer(Parts[4], Answer.BytesBefore);
  to_integer(Parts[5], Answer.BytesAfter);
  Answer.Prints = !Parts[6].empty();
  Answer.Object = Parts[0].str();
  return Answer;
}

} // namespace mlgo::search
