// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

/// \file
/// The priority advisor that creates its policy for the target of the function
/// at hand. LLVM's own one is compiled under another name (defs.bzl).

#include "PolicyTarget.h"
#include "Unmeasured.h"

#include "llvm/CodeGen/MachineFunction.h"
#include "llvm/CodeGen/RegAllocPriorityAdvisor.h"
#include "llvm/CodeGen/SlotIndexes.h"
#include "llvm/IR/Module.h"
#include "llvm/Target/TargetMachine.h"

#include <memory>
#include <utility>

using namespace llvm;

namespace llvm {
/// LLVM's createReleaseModePriorityAdvisorAnalysis and -Provider, renamed.
RegAllocPriorityAdvisorAnalysisLegacy *createPolicyPriorityAdvisorAnalysis();
RegAllocPriorityAdvisorProvider *createPolicyPriorityAdvisorProvider();
} // namespace llvm

namespace {

using Analysis = RegAllocPriorityAdvisorAnalysisLegacy;
using AdvisorProvider = RegAllocPriorityAdvisorProvider;

class ProviderOfTarget final : public AdvisorProvider {
public:
  explicit ProviderOfTarget(AdvisorProvider &Policy)
      : AdvisorProvider(AdvisorMode::Release), Policy(Policy) {}
  explicit ProviderOfTarget(std::unique_ptr<AdvisorProvider> Owned)
      : ProviderOfTarget(*Owned) {
    this->Owned = std::move(Owned);
  }

  std::unique_ptr<RegAllocPriorityAdvisor>
  getAdvisor(const MachineFunction &MF, const RAGreedy &RA,
             SlotIndexes &SI) override {
    // The first advisor creates the policy.
    mlgo::warnIfTargetIsUnmeasured(mlgo::PrioritySlot,
                                   MF.getTarget().getTargetTriple());
    const mlgo::PolicyTarget Target(MF.getTarget().getTargetTriple());
    return Policy.getAdvisor(MF, RA, SI);
  }

private:
  AdvisorProvider &Policy;
  std::unique_ptr<AdvisorProvider> Owned;
};

class AnalysisOfTarget final : public Analysis {
public:
  explicit AnalysisOfTarget(std::unique_ptr<Analysis> Policy)
      : Analysis(Policy->getAdvisorMode()), Policy(std::move(Policy)) {}

private:
  bool doInitialization(Module &M) override {
    Policy->doInitialization(M);
    Provider = std::make_unique<ProviderOfTarget>(Policy->getProvider());
    return false;
  }

  void getAnalysisUsage(AnalysisUsage &AU) const override {
    AU.addRequired<SlotIndexesWrapperPass>();
    Analysis::getAnalysisUsage(AU);
  }

  const std::unique_ptr<Analysis> Policy;
};

} // namespace

Analysis *llvm::createReleaseModePriorityAdvisorAnalysis() {
  std::unique_ptr<Analysis> Policy(createPolicyPriorityAdvisorAnalysis());
  // Without a policy LLVM reports an error.
  return Policy ? new AnalysisOfTarget(std::move(Policy)) : nullptr;
}

AdvisorProvider *llvm::createReleaseModePriorityAdvisorProvider() {
  return new ProviderOfTarget(
      std::unique_ptr<AdvisorProvider>(createPolicyPriorityAdvisorProvider()));
}
