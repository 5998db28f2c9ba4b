// The list of embedded policies that a program prints, and the errors about missing ones. Every program links this unit.
#include "EmbeddedModel.h"

#include "llvm/Support/CommandLine.h"
#include "llvm/Config/llvm-config.h"
#include "llvm/Support/ErrorHandling.h"
#include "llvm/Support/raw_ostream.h"

#include <cstdlib>

using namespace llvm;

#if LLVM_VERSION_MAJOR < 21
[[noreturn]] static void reportFatalUsageError(const Twine &Reason) {
  report_fatal_error(Reason, /*gen_crash_diag=*/false);
}
#endif

// clang's driver calls this for --version (clang_version_names_policies.patch).
void mlgoPrintPolicies(raw_ostream &OS);

namespace {

const mlgo::SlotUsage Usages[] = {
#define POLICY_SLOT(Slot, Problem, Name, AdvisorFlag, ChannelFlag, Functions) \
  {mlgo::Slot, AdvisorFlag, Name, ChannelFlag, mlgo::DecidesIn::Functions},
#include "PolicySlots.def"
#undef POLICY_SLOT
};

cl::opt<bool> ListPolicies("mlgo-policies", cl::ValueDisallowed, cl::desc("Print which trained policies are inside, and exit"),
                           cl::callback([](const bool &) {
                             mlgoPrintPolicies(outs());
                             outs().flush();
                             // As after -help and -version.
                             std::exit(0);
                           }));

// `opt --version`, `llc --version`, `clang -cc1 -version`.
[[maybe_unused]] const bool Registered = (cl::AddExtraVersionPrinter(mlgoPrintPolicies), true);

} // namespace

void mlgoPrintPolicies(raw_ostream &OS) {
  for (const mlgo::SlotUsage &Known : Usages)
    OS << "mlgo policy: " << Known.Slot.Problem << ", " << Known.Slot.Provenance << '\n';
}

const mlgo::SlotUsage &mlgo::usageOf(const PolicySlot &Slot) {
  for (const SlotUsage &Known : Usages)
    if (&Known.Slot == &Slot)
      return Known;
  llvm_unreachable("a slot without usage");
}

std::unique_ptr<mlgo::EmbeddedPolicy> mlgo::requirePolicy(const PolicySlot &Slot) {
  if (Slot.Create)
    return Slot.Create();
  const SlotUsage &Known = usageOf(Slot);
  reportFatalUsageError(Twine(Known.Flag) + ": this program has no policy for " + Slot.Problem + " inside; put one in with " +
                        Known.Attribute + " of mlgo_clang, mlgo_opt or mlgo_llc (//release:defs.bzl), or answer through " +
                        Known.Channel + " (-mlgo-policies lists what is inside)");
}

void mlgo::evaluateOrEnd(EmbeddedPolicy &Policy, const PolicySlot &Slot) {
  if (!Policy.evaluate())
    reportFatalUsageError(Twine(usageOf(Slot).Flag) + ": the embedded policy for " + Slot.Problem +
                          " could not be evaluated; put in another one");
}
