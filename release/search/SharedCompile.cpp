// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "SharedCompile.h"

#include "CodeSize.h"
#include "ComparedCompile.h"
#include "CopiedCompile.h"
#include "EmbeddedModel.h"
#include "InlinerSizeModel.h"
#include "InliningDecisions.h"
#include "KnownCode.h"
#include "ModuleSearch.h"
#include "OptimisedModule.h"
#include "SilentChild.h"

#include "llvm/ADT/StringRef.h"
#include "llvm/IR/DataLayout.h"
#include "llvm/IR/Module.h"
#include "llvm/IR/PassInstrumentation.h"
#include "llvm/Object/ObjectFile.h"
#include "llvm/Passes/PassBuilder.h"

#include <map>
#include <memory>
#include <utility>
#include <vector>

using namespace llvm;

namespace mlgo::search {
namespace {

constexpr StringRef InlinerPass = "ModuleInlinerWrapperPass";

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
  SharedCompile(CopiedCompile &Here, unsigned Tries)
      : Here(Here), Of(Here.Of), Tries(Tries) {}

  [[noreturn]] void run() {
    if (!Here.IsShared) {
      searchHere();
    } else {
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
      Here.optimise();
    }
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
    return readTry(Asked, *Copy.Sent, KeepsObject);
  }

  /// Where the try is an earlier one from here on, it ends.
  void passInliner() {
    DigestOfInlined = digestOf(Of.M);
    if (MadeOf.count(DigestOfInlined))
      sendToParent(messageOf(Tried{"", Taken, "", false, DigestOfInlined}));
  }

  /// The parent of all tries has replaced the default inliner.
  void follow(const Attempt &Asked) {
    if (!Asked.AsReleased)
      giveDecisions(fileOf(Asked));
    else if (!(Asked == ReleasedDefault))
      setOption(AdvisorMode, "release");
    takeDecisionsInto(IsTry ? &Taken : nullptr);
  }

  [[noreturn]] void sendTry() {
    // Otherwise an error may have kept the inliner from running.
    std::string Digests;
    if (Here.IsShared && !Here.hasError() && Here.keepsFunctionsWhole())
      Digests = replaceKnown(Of.M, Known);
    const CopiedCompile::Object Code = Here.generate();
    sendToParent(messageOf(
        Tried{textOf(Code), Taken, Digests, Here.prints(), DigestOfInlined}));
  }

  Build readTry(const Attempt &Asked, StringRef Sent, bool KeepsObject) {
    const Tried Try = triedIn(Sent);
    const std::string Inlined = Try.DigestOfInlined.str();
    Build Result = Try.Object.empty() ? MadeOf.at(Inlined) : Build();
    Result.Decided = decisionsIn(std::string_view(Try.Taken));
    if (Try.Object.empty())
      return Result;
    const auto Code = Here.read(Try.Object);
    addKnown(Known, Try.Digests, *Code);
    addSizes(Result, *Code, Defined, Of.M.getDataLayout().getGlobalPrefix());
    if (!Inlined.empty())
      MadeOf.emplace(Inlined, Result);
    if (Asked == ReleasedDefault)
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
    Answer.Prints = One.Prints || Here.prints();
    sendToParent(messageOf(Answer));
  }

  /// The object of this very process.
  [[noreturn]] void sendChosen() {
    Here.requireNoError();
    if (!Answer.Chosen)
      sendToParent(messageOf(Answer));
    const CopiedCompile::Object Code = Here.generate();
    const Build Made = Here.measured(*Here.read(textOf(Code)), Defined);
    // An estimate of a try, in which functions were not generated again, may be
    // wrong.
    if (Made.CodeBytes > Answer.BytesBefore)
      sendKept(Objects.front());
    Answer.BytesAfter = Made.CodeBytes;
    Answer.Object = textOf(Code).str();
    Answer.Prints = Here.prints();
    sendToParent(messageOf(Answer));
  }

  CopiedCompile &Here;
  const Job &Of;
  const unsigned Tries;
  Functions Defined;
  KnownCode Known;
  /// By the digest of what the inliner leaves.
  std::map<std::string, Build> MadeOf;
  std::vector<Kept> Objects;
  Searched Answer;
  /// In a try.
  std::string Taken, DigestOfInlined;
  bool IsTry = false;
  bool IsReached = false;
};

} // namespace

std::optional<Searched> searchInCopy(const Job &Of, unsigned Tries) {
  const Forked Copy = forkSilently(SearchFlag);
  if (Copy.IsChild) {
    CopiedCompile Here(Of);
    if (Tries == 2 && canCompare(Here))
      compareHere(Here);
    SharedCompile(Here, Tries).run();
  }
  if (!Copy.Sent)
    return std::nullopt;
  return searchedIn(*Copy.Sent);
}

} // namespace mlgo::search
