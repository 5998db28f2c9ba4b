// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

/// \file
/// The list of embedded policies that a program prints, and the errors about
/// missing ones. Every program links this unit.

#include "EmbeddedModel.h"
#include "Options.h"
#include "PolicyTarget.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/CommandLine.h"
#include "llvm/Support/ErrorHandling.h"
#include "llvm/Support/raw_ostream.h"
#include "llvm/TargetParser/Triple.h"

#include <cstdlib>
#include <utility>

using namespace llvm;

/// clang's driver calls this for --version
/// (clang_version_names_policies.patch).
void mlgoPrintPolicies(raw_ostream &OS);

namespace {

const mlgo::SlotUsage Usages[] = {
#define POLICY_SLOT(Slot, Problem, Name, AdvisorFlag, SelectorFlag,            \
                    ChannelFlag, Functions, Measured)                          \
  {mlgo::Slot,   AdvisorFlag, Name,                                            \
   SelectorFlag, ChannelFlag, mlgo::DecidesIn::Functions,                      \
   Measured},
#include "PolicySlots.def"
#undef POLICY_SLOT
};

using Selector = cl::opt<std::string>;

/// Null for an option that LLVM has itself.
std::unique_ptr<Selector> ownSelector(const char *Flag, const char *Help) {
  StringRef Name = Flag;
  Name.consume_front("-");
  if (!Name.starts_with("mlgo-"))
    return nullptr;
  return std::make_unique<Selector>(Name, cl::Hidden, cl::value_desc("name"),
                                    cl::desc(Help));
}

const std::unique_ptr<Selector> OwnSelectors[] = {
#define POLICY_SLOT(Slot, Problem, Name, AdvisorFlag, SelectorFlag,            \
                    ChannelFlag, Functions, Measured)                          \
  ownSelector(SelectorFlag, "Name of the policy for " Problem                  \
                            " that decides; default: the one for the target, " \
                            "or else the first that "                          \
                            "-mlgo-policies lists"),
#include "PolicySlots.def"
#undef POLICY_SLOT
};

/// The name that the option of a slot gives, or "". LLVM's option is a variable
/// of another unit, which not every program links.
StringRef selectedName(const mlgo::SlotUsage &Usage) {
  cl::Option *const Found =
      mlgo::findOption(StringRef(Usage.Selector).ltrim('-'));
  return Found ? StringRef(mlgo::optionOf<std::string>(*Found).getValue())
               : StringRef();
}

/// The architecture of the innermost PolicyTarget, or "".
std::string &currentArchitecture() {
  thread_local std::string Architecture;
  return Architecture;
}

/// \param Architectures with a space between them.
SmallVector<StringRef, 4> namesIn(StringRef Architectures) {
  SmallVector<StringRef, 4> Names;
  Architectures.split(Names, ' ', /*MaxSplit=*/-1, /*KeepEmpty=*/false);
  return Names;
}

[[noreturn]] void endWithoutPolicyOf(StringRef Name,
                                     const mlgo::SlotUsage &Usage) {
  const mlgo::PolicySlot &Slot = Usage.Slot;
  if (!*Slot.begin()->Name)
    reportFatalUsageError(Twine(Usage.Selector) + "=" + Name +
                          ": the only policy for " + Slot.Problem +
                          " inside has no name; remove the option");
  std::string Names;
  for (const mlgo::PolicyInside &Inside : Slot)
    Names += (Names.empty() ? "" : ", ") + std::string(Inside.Name);
  reportFatalUsageError(
      Twine(Usage.Selector) + "=" + Name + ": no policy for " + Slot.Problem +
      " inside has this name; give one of " + Names + ", or remove the option");
}

cl::opt<bool>
    ListPolicies("mlgo-policies", cl::ValueDisallowed,
                 cl::desc("Print which trained policies are inside, and exit"),
                 cl::callback([](const bool &) {
                   mlgoPrintPolicies(outs());
                   outs().flush();
                   // As after -help and -version.
                   std::exit(0);
                 }));

/// `opt --version`, `llc --version`, `clang -cc1 -version`.
[[maybe_unused]] const bool Registered =
    (cl::AddExtraVersionPrinter(mlgoPrintPolicies), true);

void printSlot(raw_ostream &OS, const mlgo::PolicySlot &Slot) {
  if (!Slot.Count)
    OS << "mlgo policy: " << Slot.Problem << ", none\n";
  for (const mlgo::PolicyInside &Inside : Slot) {
    OS << "mlgo policy: " << Inside.Problem << ", ";
    if (*Inside.Name)
      OS << "name " << Inside.Name
         << (&Inside == Slot.begin() ? " (default)" : "") << ", ";
    if (*Inside.Architectures)
      OS << "for " << join(namesIn(Inside.Architectures), " and ") << ", ";
    OS << Inside.Provenance << '\n';
  }
}

} // namespace

void mlgoPrintPolicies(raw_ostream &OS) {
  for (const mlgo::SlotUsage &Known : Usages)
    printSlot(OS, Known.Slot);
}

const mlgo::SlotUsage &mlgo::usageOf(const PolicySlot &Slot) {
  for (const SlotUsage &Known : Usages)
    if (&Known.Slot == &Slot)
      return Known;
  llvm_unreachable("a slot without usage");
}

const mlgo::PolicyInside *mlgo::chosenPolicy(const PolicySlot &Slot) {
  if (!Slot.Count)
    return nullptr;
  const SlotUsage &Usage = usageOf(Slot);
  const StringRef Name = selectedName(Usage);
  if (Name.empty()) {
    const auto IsForTarget = [](const PolicyInside &Inside) {
      return is_contained(namesIn(Inside.Architectures), currentArchitecture());
    };
    const PolicyInside *const Found = find_if(Slot, IsForTarget);
    return Found == Slot.end() ? Slot.begin() : Found;
  }
  for (const PolicyInside &Inside : Slot)
    if (Name == Inside.Name)
      return &Inside;
  endWithoutPolicyOf(Name, Usage);
}

std::string mlgo::architectureOf(const Triple &Target) {
  if (Target.isARM() || Target.isThumb())
    return "arm";
  if (Target.isAArch64())
    return "aarch64";
  return Triple::getArchTypeName(Target.getArch()).str();
}

mlgo::PolicyTarget::PolicyTarget(const Triple &Target)
    : Before(std::exchange(currentArchitecture(), architectureOf(Target))) {}

mlgo::PolicyTarget::~PolicyTarget() { currentArchitecture() = Before; }

bool mlgo::isMeasured(const PolicySlot &Slot, const PolicyInside &Inside,
                      const std::string &Architecture) {
  return is_contained(namesIn(usageOf(Slot).Measured), Architecture) ||
         is_contained(namesIn(Inside.Architectures), Architecture);
}

std::unique_ptr<mlgo::EmbeddedPolicy>
mlgo::requirePolicy(const PolicySlot &Slot) {
  if (const PolicyInside *Chosen = chosenPolicy(Slot))
    return Chosen->Create();
  const SlotUsage &Known = usageOf(Slot);
  reportFatalUsageError(
      Twine(Known.Flag) + ": this program has no policy for " + Slot.Problem +
      " inside; put one in with " + Known.Attribute +
      " of mlgo_clang, mlgo_opt or mlgo_llc (//release:defs.bzl), or answer "
      "through " +
      Known.Channel + " (-mlgo-policies lists what is inside)");
}

void mlgo::evaluateOrEnd(EmbeddedPolicy &Policy, const PolicySlot &Slot) {
  if (!Policy.evaluate())
    reportFatalUsageError(Twine(usageOf(Slot).Flag) +
                          ": the embedded policy for " + Slot.Problem +
                          " could not be evaluated; put in another one");
}
