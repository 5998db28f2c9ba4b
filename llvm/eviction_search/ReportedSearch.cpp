// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

/// \file
/// -mlgo-eviction-search: the search of the development compilers, with a
/// report (README.md).

#include "DecisionFormat.h"
#include "EvictionDecisions.h"
#include "EvictionSearch.h"
#include "InliningDecisions.h"
#include "UsageError.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/CodeGen/MachineFunction.h"
#include "llvm/CodeGen/TargetRegisterInfo.h"
#include "llvm/CodeGen/TargetSubtargetInfo.h"
#include "llvm/IR/Module.h"
#include "llvm/Support/CommandLine.h"
#include "llvm/Support/raw_ostream.h"

#include <cstdio>
#include <string>
#include <system_error>
#include <utility>

using namespace llvm;

namespace llvm {
/// LLVM's createDevelopmentModeAdvisorAnalysisLegacy, renamed in the compile of
/// MLRegAllocEvictAdvisor.cpp.
RegAllocEvictionAdvisorAnalysisLegacy *createTrainingAdvisorAnalysisLegacy();
} // namespace llvm

namespace {

std::unique_ptr<mlgo::EvictionAnswers> answersOf(Module &M, bool HasPolicy);

cl::opt<std::string> ReportFile(
    "mlgo-eviction-search", cl::Hidden, cl::value_desc("file"),
    cl::desc(
        "Search better eviction decisions for each function, compile with the "
        "best, "
        "and write the costs to this file and the decisions to FILE.decisions"),
    cl::callback([](const std::string &) {
      mlgo::answerEvictionsBy(answersOf);
      mlgo::replaceDefaultEvictionAdvisor();
    }));

cl::opt<unsigned>
    NoisyTries("mlgo-eviction-noisy-tries", cl::Hidden, cl::init(16),
               cl::desc("Allocations of a function with random changes that "
                        "-mlgo-eviction-search tries; "
                        "default 16"));

cl::opt<unsigned> Flips("mlgo-eviction-flips", cl::Hidden, cl::init(64),
                        cl::desc("Single decisions of a function that "
                                 "-mlgo-eviction-search tries the other way; "
                                 "default 64"));

cl::opt<double>
    FlipsPerRootCost("mlgo-eviction-flips-per-root-cost", cl::Hidden,
                     cl::init(0),
                     cl::desc("Further flips of a function for "
                              "-mlgo-eviction-search, by the square root "
                              "of what it costs by default; default 0"));

cl::opt<unsigned>
    MoreFlips("mlgo-eviction-more-flips", cl::Hidden, cl::init(0),
              cl::desc("Further flips of -mlgo-eviction-flips-per-root-cost at "
                       "most; default 0"));

cl::opt<unsigned> SearchSeed(
    "mlgo-eviction-seed", cl::Hidden, cl::init(1),
    cl::desc("Seed of the random changes of -mlgo-eviction-search; default 1"));

constexpr char ReportHead[] =
    "function\tquestions\tdefault\tasked\tgiven\tbest\ttries\tcurve\n";

void write(const std::string &Path, StringRef Content) {
  std::error_code Error;
  raw_fd_ostream File(Path, Error);
  if (!Error) {
    File << Content;
    File.close();
    Error = File.error();
    File.clear_error();
  }
  if (Error)
    mlgo::endWithUsageError("-mlgo-eviction-search: cannot write " + Path +
                            ": " + Error.message());
}

/// Text that a reader turns into the same number.
std::string number(double Value) {
  char Text[32];
  std::snprintf(Text, sizeof(Text), "%.17g", Value);
  return Text;
}

std::string costOf(const std::optional<mlgo::Allocation> &Made) {
  return Made ? number(Made->Cost) : "";
}

class ReportedSearch final : public mlgo::EvictionSearch {
public:
  ReportedSearch(Module &M, bool HasPolicy,
                 std::optional<mlgo::EvictionSection> Section)
      : EvictionSearch("-mlgo-eviction-search", HasPolicy, SearchSeed), M(M),
        Section(std::move(Section)) {}

private:
  std::optional<mlgo::SearchLimits>
  limitsOf(const MachineFunction &,
           const MachineBlockFrequencyInfo &) const override {
    return mlgo::SearchLimits{NoisyTries, Flips, FlipsPerRootCost, MoreFlips};
  }
  StringMap<unsigned> givenTo(const MachineFunction &MF) override;
  void found(const MachineFunction &MF,
             const mlgo::FunctionResult &Found) override;
  void moduleIsSearched() override;

  Module &M;
  const std::optional<mlgo::EvictionSection> Section;
  /// Sections name registers, searches number them.
  StringMap<StringMap<StringRef>> GivenByFunction;
  std::string Report = ReportHead, Taken;
};

std::unique_ptr<mlgo::EvictionAnswers> answersOf(Module &M, bool HasPolicy) {
  std::optional<mlgo::EvictionSection> Section;
  if (const auto File = mlgo::givenDecisions())
    Section = File->evictionsOf(M.getSourceFileName());
  return std::make_unique<ReportedSearch>(M, HasPolicy, std::move(Section));
}

StringMap<unsigned> ReportedSearch::givenTo(const MachineFunction &MF) {
  if (Section && GivenByFunction.empty())
    for (const auto &[Question, Decision] : Section->Decisions)
      GivenByFunction[Question.split('\t').first][Question] = Decision.Register;
  StringMap<unsigned> Given;
  const auto Found = GivenByFunction.find(mlgo::escaped(MF.getName()));
  if (Found == GivenByFunction.end())
    return Given;
  const TargetRegisterInfo &Registers = *MF.getSubtarget().getRegisterInfo();
  StringMap<unsigned> Numbers;
  for (unsigned Number = 1; Number < Registers.getNumRegs(); ++Number)
    Numbers[Registers.getName(Number)] = Number;
  for (const auto &Entry : Found->second) {
    const auto Number = Numbers.find(Entry.second);
    // A decision about a register that the target does not have fits nothing.
    if (Entry.second.empty() || Number != Numbers.end())
      Given[Entry.getKey()] = Entry.second.empty() ? 0 : Number->second;
  }
  return Given;
}

void ReportedSearch::found(const MachineFunction &MF,
                           const mlgo::FunctionResult &Found) {
  mlgo::requireName(MF.getName(), ReportFile.ArgStr, M.getSourceFileName());
  Report += mlgo::escaped(MF.getName()) + '\t' +
            utostr(Found.Best->Decisions.size()) + '\t' +
            costOf(Found.Default) + '\t' + costOf(Found.Asked) + '\t' +
            costOf(Found.Given) + '\t' + costOf(Found.Best) + '\t' +
            utostr(Found.Tries) + '\t';
  for (const auto &[Number, Cost] : Found.Curve)
    Report += (Number == Found.Curve.front().first ? "" : ",") +
              utostr(Number) + ':' + number(Cost);
  Report += '\n';
  const TargetRegisterInfo &Registers = *MF.getSubtarget().getRegisterInfo();
  for (const mlgo::Decision &One : Found.Best->Decisions)
    mlgo::appendEviction(Taken, One.Question,
                         One.Register ? Registers.getName(One.Register) : "");
}

void ReportedSearch::moduleIsSearched() {
  const std::string Source = M.getSourceFileName();
  write(ReportFile, Report);
  write(ReportFile + ".decisions",
        mlgo::firstLine() + mlgo::evictionsHeader(Source) + Taken);
}

} // namespace

RegAllocEvictionAdvisorAnalysisLegacy *
llvm::createDevelopmentModeAdvisorAnalysisLegacy() {
  std::unique_ptr<RegAllocEvictionAdvisorAnalysisLegacy> Training(
      createTrainingAdvisorAnalysisLegacy());
  return mlgo::evictionsAreAnswered()
             ? mlgo::withEvictionAnswers(std::move(Training))
             : Training.release();
}
