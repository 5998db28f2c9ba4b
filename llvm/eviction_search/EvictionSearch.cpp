#include "EvictionSearch.h"
#include "UsageError.h"

#include "llvm/CodeGen/MachineFunction.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/xxhash.h"

#include <system_error>
#include <utility>

using namespace llvm;

namespace mlgo {
namespace {

// A copy of the process has a single thread: locks that others hold would stay locked.
bool hasOneThread() {
  std::error_code Failed;
  unsigned Count = 0;
  for (sys::fs::directory_iterator Thread("/proc/self/task", Failed), End; !Failed && Thread != End;
       Thread.increment(Failed))
    ++Count;
  return Count <= 1;
}

} // namespace

void EvictionSearch::beginFunction(const MachineFunction &MF, const MachineBlockFrequencyInfo &Frequencies) {
  // The tried function never came to its end.
  if (IsChild)
    giveUp();
  Function = MF.getName().str();
  Expected.reset();
  Answers = PlannedAnswers(AllocationPlan());
  Current = &MF;
  Waiting = limitsOf(MF, Frequencies);
}

MCRegister EvictionSearch::answer(const EvictionQuestion &Question, const Alternatives &By) {
  if (const auto Limits = std::exchange(Waiting, std::nullopt))
    search(*Current, *Limits);
  return Answers.answer(Question, By);
}

void EvictionSearch::search(const MachineFunction &MF, const SearchLimits &Limits) {
  if (!hasOneThread())
    endWithUsageError("the search for better evictions cannot work in a process with several threads, such as a linker "
                      "that compiles. Give the option to the compiler, or remove it");
  const auto Try = [this](const AllocationPlan &Plan) {
    Attempt Forked = forkAllocation();
    if (Forked.IsChild) {
      IsChild = true;
      Answers = PlannedAnswers(Plan);
    }
    return Forked;
  };
  const FunctionResult Found = searchFunction(Try, Limits, HasPolicy, givenTo(MF), xxh3_64bits(Function) + Seed);
  if (IsChild || !Found.Best)
    return;
  Answers = PlannedAnswers(repeating(*Found.Best));
  Expected = Found.Best->Cost;
  found(MF, Found);
}

void EvictionSearch::endFunction(const MachineFunction &MF, function_ref<float()> Cost) {
  if (Function != MF.getName())
    return;
  if (IsChild)
    sendToParent({Cost(), Answers.takeDecisions()});
  if (Expected && *Expected != Cost())
    endWithUsageError("the evictions found for " + Function + " cost " + std::to_string(Cost()) +
                      " in the compile and cost " + std::to_string(*Expected) +
                      " in the search; report this with the module, or leave the search out");
  Expected.reset();
}

void EvictionSearch::endModule() {
  if (IsChild)
    giveUp();
  moduleIsSearched();
}

} // namespace mlgo
