// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "EvictionSearch.h"
#include "SilentChild.h"
#include "UsageError.h"

#include "llvm/CodeGen/MachineFunction.h"
#include "llvm/Support/xxhash.h"

#include <optional>
#include <utility>

using namespace llvm;

namespace mlgo {

void EvictionSearch::beginFunction(
    const MachineFunction &MF, const MachineBlockFrequencyInfo &Frequencies) {
  requireEnd();
  Function = MF.getFunctionNumber();
  Name = MF.getName().str();
  Answers = PlannedAnswers(AllocationPlan());
  Current = &MF;
  Waiting = limitsOf(MF, Frequencies);
}

MCRegister EvictionSearch::answer(const EvictionQuestion &Question,
                                  const Alternatives &By) {
  if (const auto Limits = std::exchange(Waiting, std::nullopt))
    search(*Current, *Limits);
  return Answers.answer(Question, By);
}

void EvictionSearch::search(const MachineFunction &MF,
                            const SearchLimits &Limits) {
  const auto Try = [this](const AllocationPlan &Plan) -> Attempt {
    const Forked Copy = forkSilently(Option);
    if (Copy.IsChild) {
      IsChild = true;
      Answers = PlannedAnswers(Plan);
      return {true, std::nullopt};
    }
    if (!Copy.Sent)
      return {false, std::nullopt};
    std::optional<Allocation> Made = parsed(*Copy.Sent);
    if (!Made)
      endWithUsageError(Twine(Option) +
                        ": a copy of the compiler sent an allocation of " +
                        Name +
                        " that cannot be read; report this with the module, or "
                        "remove the option");
    return {false, std::move(Made)};
  };
  const FunctionResult Found = searchFunction(
      Try, Limits, HasPolicy, givenTo(MF), xxh3_64bits(Name) + Seed);
  if (IsChild)
    return;
  // The compile tells why the heuristic failed, for it repeats what the first
  // try did.
  if (!Found.Default) {
    AllocationPlan Repeated;
    Repeated.ByDefault = true;
    Answers = PlannedAnswers(std::move(Repeated));
    IsFirstLost = true;
    return;
  }
  Answers = PlannedAnswers(repeating(*Found.Best));
  Expected = Found.Best->Cost;
  found(MF, Found);
}

void EvictionSearch::endFunction(const MachineFunction &MF,
                                 function_ref<float()> Cost) {
  if (Function != MF.getFunctionNumber())
    return;
  // LLVM has reported an error and goes on.
  const bool HasFailed = MF.getProperties().hasFailedRegAlloc();
  if (IsChild && HasFailed)
    loseTry();
  if (IsChild)
    sendToParent(serialized({Cost(), Answers.takeDecisions()}));
  if (HasFailed)
    IsFirstLost = false;
  else
    requireEnd();
  if (Expected && *Expected != Cost())
    endWithUsageError(
        "the evictions found for " + Name + " cost " + std::to_string(Cost()) +
        " in the compile and cost " + std::to_string(*Expected) +
        " in the search; report this with the module, or leave the search out");
  Expected.reset();
}

void EvictionSearch::endModule() {
  requireEnd();
  moduleIsSearched();
}

/// Where LLVM's heuristic failed in a copy, it must fail in the compile as
/// well; and a cost must come for each search.
void EvictionSearch::requireEnd() {
  // The tried function never came to its end.
  if (IsChild)
    loseTry();
  if (IsFirstLost)
    endWithUsageError(Twine(Option) + ": the allocation of " + Name +
                      " by LLVM's heuristic failed in a copy of the "
                      "compiler, and not in the compile itself; report this "
                      "with the module, or remove "
                      "the option");
}

} // namespace mlgo
