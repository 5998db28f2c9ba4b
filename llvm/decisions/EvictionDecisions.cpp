// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "EvictionDecisions.h"
#include "InliningDecisions.h"
#include "TakenDecisions.h"
#include "UsageError.h"

#include "llvm/CodeGen/MachineFunction.h"
#include "llvm/CodeGen/TargetRegisterInfo.h"
#include "llvm/CodeGen/TargetSubtargetInfo.h"
#include "llvm/IR/Module.h"
#include "llvm/Support/CommandLine.h"

#include <utility>

using namespace llvm;

namespace {

cl::opt<std::string> TakenFile("mlgo-evictions-taken", cl::Hidden,
                               cl::value_desc("file"),
                               cl::desc("File to write: the eviction decisions "
                                        "of this compile, in the format of "
                                        "-mlgo-decisions"),
                               cl::callback([](const std::string &) {
                                 mlgo::replaceDefaultEvictionAdvisor();
                               }));

} // namespace

namespace mlgo {

std::optional<MCRegister> registerNamed(StringRef Name,
                                        const EvictionQuestion &Question,
                                        const TargetRegisterInfo &Registers) {
  for (const EvictionCandidate &Candidate : Question.Candidates)
    if (Candidate.Register ? Name == Registers.getName(Candidate.Register)
                           : Name.empty())
      return Candidate.Register;
  return std::nullopt;
}

std::unique_ptr<EvictionDecisions> EvictionDecisions::of(Module &M) {
  std::shared_ptr<const DecisionFile> File = givenDecisions();
  std::optional<EvictionSection> Section;
  if (File)
    Section = File->evictionsOf(M.getSourceFileName());
  if (!Section)
    File = nullptr;
  if (!Section && TakenFile.empty())
    return nullptr;
  return std::unique_ptr<EvictionDecisions>(new EvictionDecisions(
      M, Section ? std::move(*Section) : EvictionSection(), std::move(File)));
}

void EvictionDecisions::beginFunction(const MachineFunction &MF,
                                      const MachineBlockFrequencyInfo &) {
  if (!TakenFile.empty())
    requireName(MF.getName(), TakenFile.ArgStr, M.getSourceFileName());
  Registers = MF.getSubtarget().getRegisterInfo();
}

MCRegister EvictionDecisions::answer(const EvictionQuestion &Question,
                                     const Alternatives &By) {
  const auto Found = Section.Decisions.find(Question.Name);
  std::optional<MCRegister> Answer;
  if (Found != Section.Decisions.end())
    Answer = registerNamed(Found->second.Register, Question, *Registers);
  if (Answer)
    Applied += !std::exchange(Found->second.Used, true);
  else
    ++Unnamed;
  const MCRegister Taking = Answer ? *Answer : By.Asked();
  if (!TakenFile.empty())
    appendEviction(Taken, Question.Name,
                   Taking ? Registers->getName(Taking) : "");
  return Taking;
}

void EvictionDecisions::endModule() {
  if (File)
    reportCoverage(M, {"eviction decisions", "evictions", File->path(), Applied,
                       Section.Decisions.size(), Unnamed});
  if (!TakenFile.empty())
    writeTaken(
        {TakenFile.ArgStr, TakenFile, firstLine(), /*RepeatsSources=*/false},
        M.getSourceFileName(), evictionsHeader(M.getSourceFileName()) + Taken);
}

} // namespace mlgo
