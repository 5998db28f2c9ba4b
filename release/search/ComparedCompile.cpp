// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "ComparedCompile.h"

#include "CodeSize.h"
#include "ComparedInlineAdvisors.h"
#include "EmbeddedModel.h"
#include "InlinerSizeModel.h"
#include "KnownCode.h"
#include "Message.h"
#include "ModuleSearch.h"
#include "OptimisedModule.h"
#include "SilentChild.h"

#include "llvm/Support/ErrorHandling.h"

#include <memory>
#include <optional>
#include <string>

using namespace llvm;

namespace mlgo::search {
namespace {

/// Questions to a compile that has optimised the module and waits.
constexpr char AllCode = 'a', CodeOfOthers = 'o';

/// The default's compile, and in a copy of the process the policy's.
///
/// Both are optimised before code is generated. The one that seems to be
/// smaller is generated wholly, and of the other one the functions that differ:
/// all of them if that turns out to be smaller.
class ComparedCompile {
public:
  explicit ComparedCompile(CopiedCompile &Here)
      : Here(Here), Defined(definedIn(Here.Of.M)) {}

  [[noreturn]] void run() {
    compareInliners([this] { return follow(); });
    Here.optimise();
    Here.requireNoError();
    if (IsPolicy)
      answerQuestions();
    Answer.Compiles = Policy ? 2 : 1;
    sendSmaller();
  }

private:
  /// What a compile made. Empty: it is lost.
  using Sent = std::optional<std::string>;

  /// At the first call about which the default and the policy differ: a copy
  /// goes on with the policy. This process waits until it has optimised the
  /// module, and goes on with the default.
  Adviser follow() {
    if (IsPolicy)
      return Adviser::Policy;
    if (Policy)
      return Adviser::Default;
    Policy = std::make_unique<AskedCopy>(SearchFlag);
    if (!Policy->isChild()) {
      PolicyWaits = Policy->answer();
      return Adviser::Default;
    }
    (void)Policy.release();
    IsPolicy = true;
    return Adviser::Policy;
  }

  [[noreturn]] void answerQuestions() {
    std::string Question = answerAndWait(
        messageOf(Waiting{digestOf(Here.Of.M), estimatedCode(Here.Of.M)}));
    while (Question[0] == CodeOfOthers) {
      const Sent Others =
          codeOfOthers(knownIn(StringRef(Question).drop_front()));
      if (!Others)
        loseTry();
      Question = answerAndWait(*Others);
    }
    answerAndWait(allCode());
    llvm_unreachable("all code is generated once");
  }

  std::string allCode() {
    const std::string Digests = replaceKnown(Here.Of.M, {});
    return codeWith(Digests);
  }

  std::string codeWith(StringRef Digests) {
    const CopiedCompile::Object Code = Here.generate();
    return messageOf(Tried{textOf(Code), "", Digests, Here.prints(), ""});
  }

  /// In a copy: the module is needed whole if all of its code is asked for
  /// later.
  Sent codeOfOthers(const KnownCode &Known) {
    const Forked Copy = forkSilently(SearchFlag);
    if (!Copy.IsChild)
      return Copy.Sent;
    replaceKnown(Here.Of.M, Known);
    sendToParent(codeWith(""));
  }

  Sent allCodeOf(Adviser Which) {
    if (Which == Adviser::Default)
      return allCode();
    Policy->ask(StringRef(&AllCode, 1));
    return Policy->answer();
  }

  Sent othersOf(Adviser Which, const KnownCode &Known) {
    if (Which == Adviser::Default) {
      Sent Others = codeOfOthers(Known);
      if (!Others)
        loseTry();
      return Others;
    }
    Policy->ask(std::string(1, CodeOfOthers) + linesOf(Known));
    return Policy->answer();
  }

  [[noreturn]] void sendSmaller() {
    // They agree about all calls, or the policy's compile is lost.
    if (!PolicyWaits)
      send(Adviser::Default, codeWith(""));
    const Waiting State = waitingIn(*PolicyWaits);
    if (State.Digest == digestOf(Here.Of.M))
      send(Adviser::Default, codeWith(""));
    const bool PolicyIsFirst = State.Estimate < estimatedCode(Here.Of.M);
    const Adviser First = PolicyIsFirst ? Adviser::Policy : Adviser::Default,
                  Last = PolicyIsFirst ? Adviser::Default : Adviser::Policy;
    const Sent Whole = allCodeOf(First);
    if (!Whole)
      send(Adviser::Default, codeWith(""));
    const Tried Try = triedIn(*Whole);
    const auto Code = Here.read(Try.Object);
    KnownCode Known;
    addKnown(Known, Try.Digests, *Code);
    const Build OfFirst = Here.measured(*Code, Defined);
    const Sent Others = othersOf(Last, Known);
    if (Others && isLess(Last, measured(*Others), OfFirst)) {
      // The estimate, in which functions were not generated again, may be
      // wrong.
      const Sent All = allCodeOf(Last);
      if (All && isLess(Last, measured(*All), OfFirst))
        send(Last, *All);
    }
    send(First, *Whole);
  }

  Build measured(StringRef Message) {
    return Here.measured(*Here.read(triedIn(Message).Object), Defined);
  }

  /// Notes the default's size.
  bool isLess(Adviser Which, const Build &Of, const Build &Than) {
    const bool IsPolicyOf = Which == Adviser::Policy;
    const Build &ByDefault = IsPolicyOf ? Than : Of,
                &ByPolicy = IsPolicyOf ? Of : Than;
    Answer.BytesBefore = ByDefault.CodeBytes;
    return isPolicySmaller(ByDefault, ByPolicy) == IsPolicyOf;
  }

  [[noreturn]] void send(Adviser Of, StringRef Message) {
    const Tried Try = triedIn(Message);
    const bool IsPolicyOf = Of == Adviser::Policy;
    Answer.Chosen = IsPolicyOf ? ReleasedPolicy : ReleasedDefault;
    Answer.BytesAfter = measured(Message).CodeBytes;
    if (!IsPolicyOf)
      Answer.BytesBefore = Answer.BytesAfter;
    Answer.Object = Try.Object.str();
    Answer.Prints = Try.Prints || Here.prints();
    Policy.reset();
    sendToParent(messageOf(Answer));
  }

  CopiedCompile &Here;
  const Functions Defined;
  Searched Answer;
  /// After the first difference, in the default's process.
  std::unique_ptr<AskedCopy> Policy;
  Sent PolicyWaits;
  bool IsPolicy = false;
};

} // namespace

bool canCompare(const CopiedCompile &Here) {
  return Here.IsShared && Here.keepsFunctionsWhole() &&
         InlinerSizeModel::slot().Count != 0;
}

void compareHere(CopiedCompile &Here) { ComparedCompile(Here).run(); }

} // namespace mlgo::search
