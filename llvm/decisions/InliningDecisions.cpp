// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "InliningDecisions.h"
#include "EvictionAnswers.h"
#include "Options.h"
#include "TakenDecisions.h"
#include "UsageError.h"

#include "llvm/Analysis/InlineAdvisor.h"
#include "llvm/Analysis/OptimizationRemarkEmitter.h"
#include "llvm/IR/InstrTypes.h"
#include "llvm/IR/LLVMContext.h"
#include "llvm/IR/Module.h"
#include "llvm/Support/CommandLine.h"

#include <mutex>
#include <utility>

using namespace llvm;

namespace {

constexpr char PassName[] = "mlgo-decisions";
constexpr char ModeOption[] = "enable-ml-inliner";

using Mode = cl::opt<InliningAdvisorMode>;

bool ReplacesDefault = false;

Mode &chosenMode() {
  cl::Option *const Found = mlgo::findOption(ModeOption);
  if (!Found)
    mlgo::endWithUsageError(
        "-mlgo-decisions: this program does not inline. Remove the option");
  return mlgo::optionOf<InliningAdvisorMode>(*Found);
}

/// LLVM asks the default advisor only for its own heuristic, so the mode
/// becomes "release" unless the user asks for another. The option may stand
/// before or after ours.
void replaceDefaultAdvisor() {
  if (ReplacesDefault)
    return;
  Mode &Chosen = chosenMode();
  const auto Replace = [&Chosen](const InliningAdvisorMode &Asked) {
    ReplacesDefault = Asked == InliningAdvisorMode::Default;
    if (ReplacesDefault)
      Chosen.setValue(
          InliningAdvisorMode::Release); // An assignment would call this again.
  };
  Replace(Chosen);
  Chosen.setCallback(Replace);
}

cl::opt<std::string>
    GivenFile("mlgo-decisions", cl::Hidden, cl::value_desc("file"),
              cl::desc("File of decisions on inlining and register eviction, "
                       "such as //mlgo:tune "
                       "writes"),
              cl::callback([](const std::string &) {
                replaceDefaultAdvisor();
                mlgo::replaceDefaultEvictionAdvisor();
              }));

cl::opt<std::string> TakenFile(
    "mlgo-decisions-taken", cl::Hidden, cl::value_desc("file"),
    cl::desc(
        "File to write: the inlining decisions of this compile, by call site"),
    cl::callback([](const std::string &) { replaceDefaultAdvisor(); }));

cl::opt<std::string> ReplayFile(
    "mlgo-decisions-replay", cl::Hidden, cl::value_desc("file"),
    cl::desc("File to write: the inlining decisions of this compile by debug "
             "location, for "
             "-cgscc-inline-replay of any clang"),
    cl::callback([](const std::string &) { replaceDefaultAdvisor(); }));

/// Takes the place of the first file; null: the file is written.
std::string *TakenInMemory = nullptr;

bool writesDecisions() {
  return TakenInMemory || !TakenFile.empty() || !ReplayFile.empty();
}

StringRef writingOption() {
  return TakenInMemory       ? "mlgo-search"
         : TakenFile.empty() ? ReplayFile.ArgStr
                             : TakenFile.ArgStr;
}

std::mutex FileMutex;
/// Content in memory takes precedence over the file.
std::shared_ptr<const mlgo::DecisionFile> FileInMemory, FileOfOption;

} // namespace

/// The back ends of ThinLTO compile many modules with one file, in several
/// threads.
std::shared_ptr<const mlgo::DecisionFile> mlgo::givenDecisions() {
  const std::lock_guard<std::mutex> Lock(FileMutex);
  if (FileInMemory)
    return FileInMemory;
  if (GivenFile.empty())
    return nullptr;
  if (!FileOfOption || FileOfOption->path() != GivenFile)
    FileOfOption = DecisionFile::read(GivenFile);
  return FileOfOption;
}

void mlgo::giveDecisions(std::string Content) {
  const std::lock_guard<std::mutex> Lock(FileMutex);
  FileInMemory = DecisionFile::parse(std::move(Content), "decisions in memory");
  replaceDefaultAdvisor();
}

void mlgo::withdrawDecisions() {
  const std::lock_guard<std::mutex> Lock(FileMutex);
  FileInMemory = nullptr;
  if (ReplacesDefault && GivenFile.empty() && !writesDecisions()) {
    chosenMode().setValue(InliningAdvisorMode::Default);
    ReplacesDefault = false;
  }
}

void mlgo::replaceDefaultInliner() {
  chosenMode() = InliningAdvisorMode::Default;
  replaceDefaultAdvisor();
}

void mlgo::takeDecisionsInto(std::string *Lines) { TakenInMemory = Lines; }

bool mlgo::decisionsReplaceDefault() { return ReplacesDefault; }

namespace mlgo {

std::unique_ptr<InliningDecisions> InliningDecisions::of(Module &M,
                                                         bool HasPolicy) {
  const std::shared_ptr<const DecisionFile> File = givenDecisions();
  std::optional<DecisionSection> Section;
  if (File)
    Section = File->sectionOf(M.getSourceFileName());
  if (Section && Section->Elsewhere.Is == Otherwise::Rule::Policy && !HasPolicy)
    endWithUsageError("-mlgo-decisions: " + File->path() +
                      " says \"otherwise policy\" for " +
                      M.getSourceFileName() +
                      ", and this compiler has no policy for inlining. Use a "
                      "compiler with one, or write "
                      "\"otherwise default\"");
  if (!Section && !writesDecisions())
    return nullptr;
  if (writesDecisions())
    for (const Function &F : M)
      if (!F.isDeclaration())
        requireName(F.getName(), writingOption(), M.getSourceFileName());
  if (!Section) {
    Section.emplace();
    if (HasPolicy && !ReplacesDefault)
      Section->Elsewhere.Is = Otherwise::Rule::Policy;
    return std::unique_ptr<InliningDecisions>(
        new InliningDecisions(M, std::move(*Section), nullptr));
  }
  return std::unique_ptr<InliningDecisions>(
      new InliningDecisions(M, std::move(*Section), File));
}

InliningDecisions::InliningDecisions(Module &M, DecisionSection Section,
                                     std::shared_ptr<const DecisionFile> File)
    : M(M), File(std::move(File)), Section(std::move(Section)), Names(M) {}

InliningDecisions::~InliningDecisions() {
  if (File)
    reportCoverage(M, {"decisions", "call sites", File->path(), Applied,
                       Section.Decisions.size(), Unnamed});
  const StringRef Source = M.getSourceFileName();
  if (TakenInMemory)
    *TakenInMemory += Taken;
  else if (!TakenFile.empty())
    writeTaken(
        {TakenFile.ArgStr, TakenFile, firstLine(), /*RepeatsSources=*/false},
        Source,
        sectionHeader(M.getSourceFileName(), Section.Elsewhere) + Taken);
  if (!ReplayFile.empty())
    writeTaken({ReplayFile.ArgStr, ReplayFile, "", /*RepeatsSources=*/true},
               Source, Replay);
}

bool InliningDecisions::keepsAccountAlone() const {
  return !File && TakenInMemory;
}

bool InliningDecisions::decideElsewhere(const Alternatives &By) const {
  switch (Section.Elsewhere.Is) {
  case Otherwise::Rule::Default:
    return By.Default();
  case Otherwise::Rule::Policy:
    return By.Policy();
  case Otherwise::Rule::CostBelow:
    return By.Cost() < Section.Elsewhere.CostLimit;
  }
  llvm_unreachable("an unknown rule");
}

InliningDecisions::Answer
InliningDecisions::decide(const CallBase &CB, const Alternatives &By,
                          OptimizationRemarkEmitter &ORE) {
  Answer Given{Names.nextNameOf(CB), false};
  const auto Found = Section.Decisions.find(Given.CallSite);
  const bool Named = Found != Section.Decisions.end();
  if (Named) {
    Given.Inline = Found->second.Inline;
    Applied += !std::exchange(Found->second.Used, true);
  } else {
    Given.Inline = decideElsewhere(By);
    ++Unnamed;
  }
  if (TakenInMemory || !TakenFile.empty())
    appendDecision(Taken, Given.CallSite, Given.Inline);
  if (!ReplayFile.empty())
    Replay += replayLine(CB, Given.Inline);
  const auto Describe = [&](auto Remark) {
    using ore::NV;
    Remark << "'" << NV("Callee", CB.getCalledFunction()) << "' in '"
           << NV("Caller", CB.getCaller())
           << "': " << NV("Decision", Given.Inline ? "inline" : "keep")
           << (Named ? ", from the file" : ", not in the file");
    return Remark;
  };
  if (!File)
    return Given;
  if (!Named)
    ORE.emit([&] {
      return Describe(OptimizationRemarkAnalysis(PassName, "NotNamed", &CB));
    });
  else if (Given.Inline)
    ORE.emit(
        [&] { return Describe(OptimizationRemark(PassName, "Inline", &CB)); });
  else
    ORE.emit([&] {
      return Describe(OptimizationRemarkMissed(PassName, "Keep", &CB));
    });
  return Given;
}

} // namespace mlgo
