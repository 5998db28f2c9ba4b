// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Unmeasured.h"
#include "Options.h"
#include "PolicyTarget.h"

#include "llvm/ADT/StringRef.h"
#include "llvm/ADT/Twine.h"
#include "llvm/IR/Module.h"
#include "llvm/Support/CommandLine.h"
#include "llvm/Support/raw_ostream.h"
#include "llvm/TargetParser/Triple.h"

#include <atomic>
#include <string>

using namespace llvm;

namespace {

constexpr StringRef AllocationsOption = "mlgo-allocations";

cl::opt<bool> Warns("mlgo-warn-unmeasured", cl::Hidden, cl::init(true),
                    cl::desc("Warn where a policy decides for a target for "
                             "which it was not measured, or does not decide "
                             "because of a profile; default: true"));

cl::opt<bool> WithProfile(
    "mlgo-policy-with-profile", cl::Hidden, cl::init(false),
    cl::desc("Let the policy for evictions decide in modules with a profile "
             "too; default: false, LLVM's heuristic decides there"));

/// Null: no embedded policy decides.
const mlgo::PolicyInside *decidingPolicy(const mlgo::PolicySlot &Slot) {
  if (!Slot.Count ||
      mlgo::isGiven(StringRef(mlgo::usageOf(Slot).Channel).ltrim('-')))
    return nullptr;
  return mlgo::chosenPolicy(Slot);
}

/// The back ends of ThinLTO compile many modules, in several threads.
void warnOnce(std::atomic<bool> &Said, const mlgo::PolicySlot &Slot,
              const Twine &Sentence) {
  if (!Warns || Said.exchange(true))
    return;
  errs() << ("warning: " + Twine(mlgo::usageOf(Slot).Flag) + ": " + Sentence +
             ". -mllvm -mlgo-warn-unmeasured=false silences this\n")
                .str();
}

} // namespace

void mlgo::warnIfTargetIsUnmeasured(const PolicySlot &Slot,
                                    const Triple &Target) {
  static std::atomic<bool> Said = false;
  if (Said || Target.getArch() == Triple::UnknownArch)
    return;
  const PolicyTarget Current(Target);
  const PolicyInside *const Policy = decidingPolicy(Slot);
  const std::string Architecture = architectureOf(Target);
  if (Policy && !isMeasured(Slot, *Policy, Architecture))
    warnOnce(Said, Slot,
             "no policy for " + Twine(Slot.Problem) + " was measured for " +
                 Architecture +
                 ", and this one may make code worse. Measure it, or remove "
                 "the option");
}

bool mlgo::yieldsToHeuristic(const PolicySlot &Slot, const Module &M) {
  static std::atomic<bool> Said = false;
  if (WithProfile || isGiven(AllocationsOption) ||
      !M.getProfileSummary(/*IsCS=*/false) || !decidingPolicy(Slot))
    return false;
  warnOnce(Said, Slot,
           "the module has a profile, so LLVM's heuristic decides: with "
           "profiles this policy alone was measured to make some programs "
           "execute 9 to 13 % more instructions. Add -mllvm "
           "-mlgo-allocations=18, which -flto does not know, to try both, or "
           "-mllvm -mlgo-policy-with-profile to have the policy");
  return true;
}

void mlgo::warnIfPositionsAreMissing(const PolicySlot &Slot,
                                     std::size_t Registers,
                                     std::size_t Positions) {
  static std::atomic<bool> Said = false;
  if (!Said && Registers > Positions && decidingPolicy(Slot))
    warnOnce(Said, Slot,
             "a register class of this target has " + Twine(Registers) +
                 " registers, and the model has positions for " +
                 Twine(Positions) +
                 ": LLVM's heuristic decides where it needs more. Measure "
                 "that, or remove the option");
}
