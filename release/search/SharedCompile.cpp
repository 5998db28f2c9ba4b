// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "SharedCompile.h"

#include "CodeSize.h"
#include "CostFile.h"
#include "EmbeddedModel.h"
#include "InlinerSizeModel.h"
#include "InliningDecisions.h"
#include "KnownCode.h"
#include "ModuleSearch.h"
#include "OptimisedModule.h"
#include "SilentChild.h"
#include "SilentOutputs.h"

#include "clang/Basic/CodeGenOptions.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/IR/DataLayout.h"
#include "llvm/IR/Module.h"
#include "llvm/IR/PassInstrumentation.h"
#include "llvm/Object/ObjectFile.h"
#include "llvm/Passes/PassBuilder.h"
#include "llvm/Support/MemoryBuffer.h"

#include <map>
#include <memory>
#include <utility>
#include <vector>

using namespace llvm;

namespace mlgo::search {
namespace {

/// Whether code generation keeps each function in one piece.
bool keepsFunctionsWhole(const clang::CodeGenOptions &Options) {
  return !Options.SplitMachineFunctions &&
         (Options.BBSections.empty() || Options.BBSections == "none");
}

constexpr StringRef InlinerPass = "ModuleInlinerWrapperPass";

using Object = SmallVector<char, 0>;

StringRef textOf(const Object &Of) { return StringRef(Of.data(), Of.size()); }

/// Questions to a compile that has optimised the module and waits.
constexpr char AllCode = 'a', CodeOfOthers = 'o';

/// A compile that has optimised the module, in a copy that waits for what is to
/// be generated.
struct Optimised {
  Attempt Asked;
  std::unique_ptr<AskedCopy> Copy;
  /// Of what the inliner leaves, and of all passes.
  std::string DigestOfInlined, Digest;
  int64_t Estimate = 0;
  std::string Taken;
  std::optional<Build> Made = std::nullopt;
};

struct Kept {
  Attempt Asked;
  std::string Object;
  uint64_t CodeBytes;
  bool Prints;
};

bool isReleasedDefault(const Attempt &Asked) {
  return Asked.AsReleased && Asked.Elsewhere == Otherwise();
}

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
        PassInstrumentationCallbacks &Passes =
            *Building.getPassInstrumentationCallbacks();
        Passes.registerBeforeNonSkippedPassCallback(
            [this](StringRef Pass, Any) { reach(Pass); });
        Passes.registerAfterPassCallback(
            [this](StringRef Pass, Any, const PreservedAnalyses &) {
              if (IsTry && Pass == InlinerPass)
                passInliner();
            });
      });
    if (IsShared)
      Of.emit(clang::Backend_EmitNothing, nullptr);
    if (IsAsked)
      answerQuestions();
    if (IsTry)
      sendTry();
    sendChosen();
  }

private:
  void reach(StringRef Pass) {
    if (IsReached || Pass != InlinerPass)
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
    for (Optimised &One : Both)
      if (One.Asked == *Answer.Chosen)
        generateAll(One);
    Both.clear();
    for (Kept &One : Objects)
      if (One.Asked == *Answer.Chosen)
        sendKept(One);
    follow(*Answer.Chosen);
  }

  Outcome tryInCopy(const Attempt &Asked, bool KeepsObject) {
    if (IsTry)
      return Outcome::endOfSearch();
    if (Tries == 2 && IsShared && keepsFunctionsWhole(Of.Options))
      return oneOfTwo(Asked);
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
    return readTry(Asked, *Copy.Sent, KeepsObject);
  }

  /// Two compiles are both optimised before code is generated: of the one that
  /// seems to be larger, only what differs.
  Outcome oneOfTwo(const Attempt &Asked) {
    if (Both.empty()) {
      if (!optimise(Asked))
        return IsTry ? Outcome::endOfSearch() : Outcome();
      // Without decisions there is no second compile.
      if (!Both.front().Taken.empty() && InlinerSizeModel::slot().Count != 0 &&
          !optimise({Otherwise::policy(), {}, true}) && IsTry)
        return Outcome::endOfSearch();
      generateBoth();
    }
    for (Optimised &One : Both)
      if (One.Asked == Asked)
        return std::move(One.Made);
    return {};
  }

  /// Returns: whether the parent has one more in `Both`. False in the copy.
  bool optimise(const Attempt &Asked) {
    auto Copy = std::make_unique<AskedCopy>(SearchFlag);
    if (Copy->isChild()) {
      (void)Copy.release();
      IsTry = IsAsked = true;
      follow(Asked);
      return false;
    }
    ++Answer.Compiles;
    const std::optional<std::string> Sent = Copy->answer();
    if (!Sent)
      return false;
    const Waiting State = waitingIn(*Sent);
    Both.push_back({Asked, std::move(Copy), State.DigestOfInlined.str(),
                    State.Digest.str(), State.Estimate, State.Taken.str()});
    return true;
  }

  void generateBoth() {
    Optimised &First = Both.front(), &Last = Both.back();
    if (Both.size() == 1)
      return generateAll(First);
    if (Last.Digest == First.Digest) {
      generateAll(First);
      Last.Made = First.Made;
      return;
    }
    const bool LastIsLess = Last.Estimate < First.Estimate;
    generateAll(LastIsLess ? Last : First);
    Optimised &Other = LastIsLess ? First : Last;
    Other.Copy->ask(std::string(1, CodeOfOthers) + linesOf(Known));
    if (const std::optional<std::string> Sent = Other.Copy->answer())
      Other.Made = readTry(Other.Asked, *Sent, /*KeepsObject=*/false);
  }

  /// At most once.
  void generateAll(Optimised &One) {
    if (any_of(Objects,
               [&](const Kept &Object) { return Object.Asked == One.Asked; }))
      return;
    One.Copy->ask(StringRef(&AllCode, 1));
    if (const std::optional<std::string> Sent = One.Copy->answer())
      One.Made = readTry(One.Asked, *Sent, /*KeepsObject=*/true);
  }

  /// Where the try is an earlier one from here on, it ends.
  void passInliner() {
    DigestOfInlined = digestOf(Of.M);
    if (!IsAsked && MadeOf.count(DigestOfInlined))
      sendToParent(messageOf(Tried{"", Taken, "", false, DigestOfInlined}));
    if (!Both.empty() && Both.front().DigestOfInlined == DigestOfInlined)
      answerAndWait(
          messageOf(Waiting{DigestOfInlined, Both.front().Digest, 0, Taken}));
  }

  [[noreturn]] void answerQuestions() {
    if (Of.CI.getDiagnostics().hasErrorOccurred())
      loseTry(Said.FirstError);
    std::string Question = answerAndWait(messageOf(
        Waiting{DigestOfInlined, digestOf(Of.M), estimatedCode(Of.M), Taken}));
    // The module is needed whole if all of its code is asked for later.
    while (Question[0] == CodeOfOthers) {
      const Forked Copy = forkSilently(SearchFlag);
      if (Copy.IsChild) {
        Known = knownIn(StringRef(Question).drop_front());
        sendTry();
      }
      if (!Copy.Sent)
        loseTry();
      Question = answerAndWait(*Copy.Sent);
    }
    const std::string Digests = replaceKnown(Of.M, {});
    answerAndWait(codeOf(Digests));
    llvm_unreachable("all code is generated once");
  }

  /// The parent of all tries has replaced the default inliner.
  void follow(const Attempt &Asked) {
    if (!Asked.AsReleased)
      giveDecisions(fileOf(Asked));
    else if (!isReleasedDefault(Asked))
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
    sendToParent(codeOf(Digests));
  }

  /// Generates code.
  std::string codeOf(StringRef Digests) {
    Object Code;
    generate(Code);
    return messageOf(
        Tried{textOf(Code), Taken, Digests, prints(), DigestOfInlined});
  }

  /// LLVM reads objects at an aligned address alone.
  std::unique_ptr<object::ObjectFile> read(StringRef Code) {
    auto Read = object::ObjectFile::createObjectFile(
        MemoryBufferRef(Code, SearchOption));
    if (!Read)
      loseTry(toString(Read.takeError()));
    return std::move(*Read);
  }

  Build readTry(const Attempt &Asked, StringRef Sent, bool KeepsObject) {
    const Tried Try = triedIn(Sent);
    const std::string Inlined = Try.DigestOfInlined.str();
    Build Result = Try.Object.empty() ? MadeOf.at(Inlined) : Build();
    Result.Decided = decisionsIn(std::string_view(Try.Taken));
    if (Try.Object.empty())
      return Result;
    const auto Code = read(Try.Object);
    addKnown(Known, Try.Digests, *Code);
    addSizes(Result, *Code, Defined, Of.M.getDataLayout().getGlobalPrefix());
    if (!Inlined.empty())
      MadeOf.emplace(Inlined, Result);
    if (isReleasedDefault(Asked))
      Answer.BytesBefore = Result.CodeBytes;
    if (KeepsObject)
      Objects.push_back(
          {Asked, Try.Object.str(), Result.CodeBytes, Try.Prints});
    return Result;
  }

  [[noreturn]] void sendKept(Kept &One) {
    Answer.Chosen = One.Asked;
    Answer.Object = std::move(One.Object);
    Answer.BytesAfter = One.CodeBytes;
    Answer.Prints = One.Prints || prints();
    sendToParent(messageOf(Answer));
  }

  /// The object of this very process.
  [[noreturn]] void sendChosen() {
    if (Of.CI.getDiagnostics().hasErrorOccurred())
      loseTry(Said.FirstError);
    if (!Answer.Chosen)
      sendToParent(messageOf(Answer));
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
    sendToParent(messageOf(Answer));
  }

  const Job &Of;
  const unsigned Tries;
  NotedMessages &Said;
  uint64_t Printed = 0;
  Functions Defined;
  KnownCode Known;
  /// By the digest of what the inliner leaves.
  std::map<std::string, Build> MadeOf;
  std::vector<Kept> Objects;
  /// The default's and the policy's compile.
  std::vector<Optimised> Both;
  Searched Answer;
  /// In a try.
  std::string Taken, DigestOfInlined;
  bool IsTry = false;
  bool IsAsked = false;
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
  return searchedIn(*Copy.Sent);
}

} // namespace mlgo::search
