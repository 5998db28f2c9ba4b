// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

/// \file
/// That a pipeline in which known results of passes are taken over gives the
/// module of one without.

#include "Check.h"
#include "KnownCode.h"
#include "KnownPasses.h"
#include "ParsedModule.h"

#include "llvm/ADT/Any.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/ADT/Twine.h"
#include "llvm/IR/Function.h"
#include "llvm/IR/Module.h"
#include "llvm/IR/PassInstrumentation.h"
#include "llvm/IR/Verifier.h"
#include "llvm/Passes/OptimizationLevel.h"
#include "llvm/Passes/PassBuilder.h"
#include "llvm/Support/raw_ostream.h"
#include "llvm/Transforms/IPO/Inliner.h"
#include "llvm/Transforms/Scalar/DivRemPairs.h"
#include "llvm/Transforms/Scalar/Reassociate.h"

#include <optional>
#include <string>
#include <tuple>
#include <vector>

using namespace llvm;
using mlgo::search::KnownCode;
using mlgo::search::KnownPasses;
using mlgo::search::Simplified;
using Parsed = mlgo::search::testing::ParsedModule;

namespace {

/// `leaf` is simplified, then `first` and `second`, into which it may go.
/// `hello` and `bye` get symbols of a pass's making after inlining, `asks` has
/// a landing pad, and `up` calls itself.
std::string program(int Factor) {
  return (Twine(R"(
@greeting = private constant [7 x i8] c"hello\0A\00"
@farewell = private constant [5 x i8] c"bye\0A\00"
@seen = internal global i32 0
declare i32 @printf(ptr, ...)
declare void @use(ptr)
declare i32 @personality(...)

define internal i32 @leaf(i32 %x) minsize optsize {
  %a = mul i32 %x, )") +
          Twine(Factor) + R"(
  %b = add i32 %a, 0
  %slot = alloca i32
  store i32 %b, ptr %slot
  %c = load i32, ptr %slot
  store i32 %c, ptr @seen
  ret i32 %c
}
define i32 @first(i32 %x) minsize optsize {
  %y = call i32 @leaf(i32 %x)
  %z = add i32 %y, 0
  ret i32 %z
}
define i32 @second(i32 %n) minsize optsize {
entry:
  br label %loop
loop:
  %i = phi i32 [ 0, %entry ], [ %next, %loop ]
  %y = call i32 @leaf(i32 %i)
  %next = add i32 %i, 1
  %done = icmp sge i32 %next, %n
  br i1 %done, label %out, label %loop
out:
  %seen = load i32, ptr @seen
  ret i32 %seen
}
define internal void @say(ptr %text) minsize optsize {
  %n = call i32 (ptr, ...) @printf(ptr %text)
  ret void
}
define void @hello() minsize optsize {
  call void @say(ptr @greeting)
  ret void
}
define void @bye() minsize optsize {
  call void @say(ptr @farewell)
  ret void
}
define i32 @asks(ptr %p) minsize optsize personality ptr @personality {
  invoke void @use(ptr %p) to label %fine unwind label %thrown
fine:
  ret i32 1
thrown:
  %caught = landingpad { ptr, i32 } catch ptr null
  %none = add i32 0, 0
  ret i32 %none
}
define i32 @up(i32 %x) minsize optsize {
  %zero = icmp eq i32 %x, 0
  br i1 %zero, label %end, label %more
more:
  %less = sub i32 %x, 1
  %rest = call i32 @up(i32 %less)
  %sum = add i32 %rest, 0
  ret i32 %sum
end:
  ret i32 7
}
)")
      .str();
}

struct Optimised {
  std::string Text;
  /// What the callbacks left after them.
  Simplified Added;
  StringMap<std::string> Digests;
  /// Functions that passes of the simplification, and of the optimisation, ran
  /// on.
  std::vector<std::string> Simplify, Optimise;
};

/// Without the order in which blocks are entered, which bitcode does not keep.
std::string withoutComments(StringRef Text) {
  std::string Kept;
  while (!Text.empty()) {
    StringRef Line;
    std::tie(Line, Text) = Text.split('\n');
    Kept += Line.split(';').first.rtrim().str() + "\n";
  }
  return Kept;
}

/// \param Known empty: without KnownPasses.
Optimised optimise(StringRef Text, std::optional<KnownPasses> Known,
                   const Simplified &Earlier = {},
                   const KnownCode *Code = nullptr) {
  Parsed In(Text);
  PassInstrumentationCallbacks Callbacks;
  PassBuilder Building(nullptr, PipelineTuningOptions(), std::nullopt,
                       &Callbacks);
  Optimised Result;
  bool Inlines = false;
  Callbacks.registerBeforeNonSkippedPassCallback([&](StringRef Pass, Any IR) {
    if (Pass == ModuleInlinerWrapperPass::name()) {
      Inlines = true;
      if (Known)
        Known->start(*In.M, Earlier, Code);
    }
    const auto *const F = any_cast<const Function *>(&IR);
    if (Inlines && F && Pass == ReassociatePass::name())
      Result.Simplify.push_back((*F)->getName().str());
    if (Inlines && F && Pass == DivRemPairsPass::name())
      Result.Optimise.push_back((*F)->getName().str());
  });
  if (Known)
    Known->registerIn(Building);
  LoopAnalysisManager Loops;
  FunctionAnalysisManager Functions;
  CGSCCAnalysisManager Components;
  ModuleAnalysisManager Modules;
  Building.registerModuleAnalyses(Modules);
  Building.registerCGSCCAnalyses(Components);
  Building.registerFunctionAnalyses(Functions);
  Building.registerLoopAnalyses(Loops);
  Building.crossRegisterProxies(Loops, Functions, Components, Modules);
  Building.buildPerModuleDefaultPipeline(OptimizationLevel::Oz)
      .run(*In.M, Modules);
  CHECK(!verifyModule(*In.M, &errs()));
  Result.Text = withoutComments(In.print());
  if (Known) {
    Result.Added = Known->added();
    for (const auto &Digest : Known->beforeOptimisation())
      Result.Digests[Digest.getKey()] = Digest.getValue();
  }
  return Result;
}

bool has(const std::vector<std::string> &Names, StringRef Name) {
  return is_contained(Names, Name.str());
}

void notingChangesNothing() {
  const Optimised Plain = optimise(program(3), std::nullopt);
  const Optimised Noted = optimise(program(3), KnownPasses());
  CHECK(Noted.Text == Plain.Text);
  CHECK(Noted.Simplify == Plain.Simplify && Noted.Optimise == Plain.Optimise);
  CHECK(has(Noted.Simplify, "leaf") && has(Noted.Simplify, "asks"));
  CHECK(Noted.Added.size() > 3 && Plain.Added.empty());
  CHECK(Noted.Digests.count("second") && has(Noted.Optimise, "second"));
}

void knownResultsAreTakenOver() {
  const Optimised Whole = optimise(program(3), KnownPasses());
  const KnownCode NoCode;
  const Optimised Again =
      optimise(program(3), KnownPasses(), Whole.Added, &NoCode);
  CHECK(Again.Text == Whole.Text);
  CHECK(Again.Added.empty());
  // Their new texts are local symbols that another try may not have.
  CHECK(Again.Simplify == std::vector<std::string>({"hello", "bye"}));
  CHECK(has(Whole.Simplify, "asks"));
  CHECK(Again.Optimise == Whole.Optimise);
}

void otherFunctionsAreSimplifiedAsInAWholeCompile() {
  const Optimised Before = optimise(program(3), KnownPasses());
  const Optimised Whole = optimise(program(5), std::nullopt);
  CHECK(Whole.Text != Before.Text);
  const KnownCode NoCode;
  const Optimised Part =
      optimise(program(5), KnownPasses(), Before.Added, &NoCode);
  CHECK(Part.Text == Whole.Text);
  CHECK(has(Part.Simplify, "leaf") && !has(Part.Simplify, "asks") &&
        !has(Part.Simplify, "up"));
  CHECK(!Part.Added.empty());
}

void functionsWithKnownCodeAreNotOptimised() {
  const Optimised Whole = optimise(program(3), KnownPasses());
  KnownCode Known;
  Known.emplace(Whole.Digests.lookup("second"), 7);
  const Optimised Part =
      optimise(program(3), KnownPasses(), Whole.Added, &Known);
  CHECK(!has(Part.Optimise, "second") && has(Part.Optimise, "up"));
  // Both digests are for `replaceKnown`.
  CHECK(Part.Digests.lookup("second") == Whole.Digests.lookup("second"));
  Parsed In(Part.Text);
  const std::string Others =
      mlgo::search::replaceKnown(*In.M, Known, Part.Digests);
  CHECK(In.M->getFunction("second")->size() == 1);
  CHECK(!StringRef(Others).contains("\tsecond\n"));
  CHECK(StringRef(Others).contains(Part.Digests.lookup("up") + "\tup\n"));
}

void withoutKnownResultsAllIsDone() {
  const Optimised Whole = optimise(program(3), KnownPasses());
  const Optimised Complete =
      optimise(program(3), KnownPasses(), Whole.Added, nullptr);
  CHECK(Complete.Text == Whole.Text && Complete.Simplify == Whole.Simplify);
}

} // namespace

int main() {
  notingChangesNothing();
  knownResultsAreTakenOver();
  otherFunctionsAreSimplifiedAsInAWholeCompile();
  functionsWithKnownCodeAreNotOptimised();
  withoutKnownResultsAllIsDone();
}
