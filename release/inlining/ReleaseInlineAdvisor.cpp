// The inliner's advisor of release programs: limits the embedded policy to the functions that it is for (README.md).
#include "EmbeddedModel.h"
#include "InlinerSizeModel.h"

#include "llvm/Analysis/InlineAdvisor.h"
#include "llvm/Analysis/MLInlineAdvisor.h"
#include "llvm/Analysis/OptimizationRemarkEmitter.h"
#include "llvm/IR/DiagnosticInfo.h"
#include "llvm/IR/Dominators.h"
#include "llvm/IR/Instruction.h"
#include "llvm/IR/Module.h"
#include "llvm/Support/CommandLine.h"

#include <atomic>
#include <functional>
#include <memory>
#include <string>
#include <utility>

using namespace llvm;

using DefaultAdvice = std::function<bool(CallBase &)>;

namespace llvm {
// LLVM's getReleaseModeAdvisor, renamed in the compile of MLInlineAdvisor.cpp.
std::unique_ptr<InlineAdvisor> getPolicyAdvisor(Module &M, ModuleAnalysisManager &MAM, DefaultAdvice GetDefaultAdvice);
} // namespace llvm

namespace {

bool isForSize(const Function &F) { return !F.isDeclaration() && F.hasOptSize(); }

// Or becomes a part of such functions alone: clang gives a coroutine's wrappers of await_suspend no attribute of size.
bool asksForSize(const Function &F) {
  if (isForSize(F) || !F.hasLocalLinkage() || !F.hasFnAttribute(Attribute::AlwaysInline) || F.use_empty())
    return isForSize(F);
  return all_of(F.users(), [](const User *U) {
    const auto *I = dyn_cast<Instruction>(U);
    return I && isForSize(*I->getFunction());
  });
}

// The default's decision with a remark. LLVM's DefaultInlineAdvice names the cost, which this advisor does not get.
class DefaultDecision final : public InlineAdvice {
public:
  using InlineAdvice::InlineAdvice;

private:
  void recordInliningImpl() override {
    emitInlinedInto(ORE, DLoc, Block, *Callee, *Caller, /*IsMandatory=*/false);
  }
  void recordInliningWithCalleeDeletedImpl() override { recordInliningImpl(); }
};

// For a module in which no function asks for size. The bookkeeping of LLVM's advisor computes analyses, and passes that
// use whatever is cached would then write other code than without the policy.
class DefaultEverywhere final : public InlineAdvisor {
public:
  DefaultEverywhere(Module &M, FunctionAnalysisManager &FAM, DefaultAdvice GetDefaultAdvice)
      : InlineAdvisor(M, FAM), GetDefaultAdvice(std::move(GetDefaultAdvice)) {}

private:
  std::unique_ptr<InlineAdvice> getAdviceImpl(CallBase &CB) override {
    return std::make_unique<DefaultDecision>(this, CB, getCallerORE(CB), GetDefaultAdvice(CB));
  }

  const DefaultAdvice GetDefaultAdvice;
};

// The policy in functions that ask for size, the default in all others.
class PolicyForSize final : public InlineAdvisor {
public:
  PolicyForSize(Module &M, FunctionAnalysisManager &FAM, std::unique_ptr<InlineAdvisor> Policy,
                DefaultAdvice GetDefaultAdvice)
      : InlineAdvisor(M, FAM), Policy(std::move(Policy)), GetDefaultAdvice(std::move(GetDefaultAdvice)) {}

  void onPassEntry(LazyCallGraph::SCC *SCC) override { Policy->onPassEntry(SCC); }
  void onPassExit(LazyCallGraph::SCC *SCC) override { Policy->onPassExit(SCC); }
  void print(raw_ostream &OS) const override { Policy->print(OS); }

private:
  std::unique_ptr<InlineAdvice> getAdviceImpl(CallBase &CB) override {
    if (asksForSize(*CB.getCaller()))
      return Policy->getAdvice(CB);
    const bool Inline = GetDefaultAdvice(CB);
    auto *Tracking = static_cast<MLInlineAdvisor *>(Policy.get());
    // As with LLVM's -ml-inliner-skip-policy, the advice updates the features of the module unless the advisor has
    // stopped. It cannot do so for an unreachable block, where LLVM's advisor never inlines and the default may.
    if (Tracking->isForcedToStop() || !isReachable(CB))
      return std::make_unique<InlineAdvice>(Tracking, CB, getCallerORE(CB), Inline);
    return std::make_unique<MLInlineAdvice>(Tracking, CB, getCallerORE(CB), Inline);
  }

  // Reached for mandatory decisions alone, which are the same for both.
  std::unique_ptr<InlineAdvice> getMandatoryAdvice(CallBase &CB, bool) override {
    return Policy->getAdvice(CB, /*MandatoryOnly=*/true);
  }

  bool isReachable(CallBase &CB) {
    return FAM.getResult<DominatorTreeAnalysis>(*CB.getCaller()).isReachableFromEntry(CB.getParent());
  }

  const std::unique_ptr<InlineAdvisor> Policy;
  const DefaultAdvice GetDefaultAdvice;
};

bool isGiven(StringRef Option) {
  auto &Options = cl::getRegisteredOptions();
  const auto Found = Options.find(Option);
  return Found != Options.end() && Found->second->getNumOccurrences() > 0;
}

// Once in a process: the back ends of ThinLTO compile many modules, in several threads.
void warnOnce(Module &M, const mlgo::SlotUsage &Usage) {
  static std::atomic_flag Warned = ATOMIC_FLAG_INIT;
  // Sanitizers add local functions to modules of data, which have nothing to ask for.
  const bool HasCode = any_of(M, [](const Function &F) { return !F.isDeclaration() && !F.hasLocalLinkage(); });
  if (!HasCode || Warned.test_and_set())
    return;
  // Named, for DiagnosticInfoGeneric keeps a reference.
  const std::string Message = std::string(Usage.Flag) + ": the policy for " + Usage.Slot.Problem +
                              " decides only in functions that are optimised for size, and " +
                              M.getModuleIdentifier() +
                              " has none: the default decides. Compile with -Oz or -Os, or remove the option";
  M.getContext().diagnose(DiagnosticInfoGeneric(Message, DS_Warning));
}

} // namespace

std::unique_ptr<InlineAdvisor> llvm::getReleaseModeAdvisor(Module &M, ModuleAnalysisManager &MAM,
                                                           DefaultAdvice GetDefaultAdvice) {
  const mlgo::SlotUsage &Usage = mlgo::usageOf(InlinerSizeModel::slot());
  const bool AsksChannel = isGiven(StringRef(Usage.Channel).ltrim('-'));
  const bool Limited = Usage.Where == mlgo::DecidesIn::FunctionsForSize && !AsksChannel;
  // getPolicyAdvisor reports an empty slot.
  if (!Limited || !Usage.Slot.Create)
    return getPolicyAdvisor(M, MAM, GetDefaultAdvice);
  auto &FAM = MAM.getResult<FunctionAnalysisManagerModuleProxy>(M).getManager();
  if (none_of(M, isForSize)) {
    warnOnce(M, Usage);
    return std::make_unique<DefaultEverywhere>(M, FAM, std::move(GetDefaultAdvice));
  }
  return std::make_unique<PolicyForSize>(M, FAM, getPolicyAdvisor(M, MAM, GetDefaultAdvice), GetDefaultAdvice);
}
