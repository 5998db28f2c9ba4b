// Compiled once for all programs: what they say about the policies inside, and about one that is not.
#include "EmbeddedModel.h"

#include "llvm/Support/CommandLine.h"
#include "llvm/Support/ErrorHandling.h"
#include "llvm/Support/raw_ostream.h"

#include <cstdlib>

using namespace llvm;

// clang's driver calls it for --version: patches/llvm/clang_version_names_policies.patch.
void mlgoPrintPolicies(raw_ostream &OS);

namespace {

// How people meet a slot: the flag that needs its policy, where one is put in, the flag that answers without one.
struct Usage {
  const mlgo::PolicySlot &Slot;
  const char *Flag;
  const char *Attribute;
  const char *Channel;
};
const Usage Usages[] = {
    {mlgo::EvictionSlot, "-regalloc-enable-advisor=release", "eviction_policy", "-regalloc-evict-interactive-channel-base"},
    {mlgo::InliningSlot, "-enable-ml-inliner=release", "inlining_policy", "-inliner-interactive-channel-base"},
    {mlgo::PrioritySlot, "-regalloc-enable-priority-advisor=release", "priority_policy",
     "-regalloc-priority-interactive-channel-base"},
};

const Usage &usageOf(const mlgo::PolicySlot &Slot) {
  for (const Usage &Known : Usages)
    if (&Known.Slot == &Slot)
      return Known;
  llvm_unreachable("a slot without usage");
}

cl::opt<bool> ListPolicies("mlgo-policies", cl::ValueDisallowed, cl::desc("Print which trained policies are inside, and exit"),
                           cl::callback([](const bool &) {
                             mlgoPrintPolicies(outs());
                             outs().flush();
                             // As -help and -version end.
                             std::exit(0);
                           }));

// `opt --version`, `llc --version`, `clang -cc1 -version`.
[[maybe_unused]] const bool Registered = (cl::AddExtraVersionPrinter(mlgoPrintPolicies), true);

} // namespace

void mlgoPrintPolicies(raw_ostream &OS) {
  for (const Usage &Known : Usages)
    OS << "mlgo policy: " << Known.Slot.Problem << ", " << Known.Slot.Provenance << '\n';
}

std::unique_ptr<mlgo::EmbeddedPolicy> mlgo::requirePolicy(const PolicySlot &Slot) {
  if (Slot.Create)
    return Slot.Create();
  const Usage &Known = usageOf(Slot);
  reportFatalUsageError(Twine(Known.Flag) + ": this program has no policy for " + Slot.Problem + " inside; put one in with " +
                        Known.Attribute + " of mlgo_clang, mlgo_opt or mlgo_llc (//release:defs.bzl), or answer through " +
                        Known.Channel + " (-mlgo-policies lists what is inside)");
}

void mlgo::evaluateOrEnd(EmbeddedPolicy &Policy, const PolicySlot &Slot) {
  if (!Policy.evaluate())
    reportFatalUsageError(Twine(usageOf(Slot).Flag) + ": the embedded policy for " + Slot.Problem +
                          " could not be evaluated; put in another one");
}
