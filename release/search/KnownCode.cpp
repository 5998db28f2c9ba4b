// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "KnownCode.h"

#include "FunctionDigest.h"
#include "Options.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallPtrSet.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/IR/CFG.h"
#include "llvm/IR/Constants.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/InlineAsm.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/Instructions.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/IR/Module.h"
#include "llvm/Object/SymbolSize.h"
#include "llvm/Support/CommandLine.h"
#include "llvm/Support/Error.h"
#include "llvm/TargetParser/Triple.h"

#include <initializer_list>
#include <iterator>
#include <tuple>
#include <utility>
#include <vector>

using namespace llvm;

namespace mlgo::search {
namespace {

/// Options with which functions of a module depend on each other, or on where
/// they lie.
constexpr StringRef WholeModuleOptions[] = {
    "enable-ipra",
    "enable-machine-outliner",
    "split-machine-functions",
    "basic-block-sections",
    "x86-align-branch-boundary",
    "x86-branches-within-32B-boundaries",
};

/// The machine outliner of other targets takes code out of functions.
bool generatesEachFunctionAlone(const Module &M) {
  const Triple Target(M.getTargetTriple());
  if (Target.getArch() != Triple::x86_64 || !Target.isOSBinFormatELF())
    return false;
  // With an instruction at the entry of functions, also of those whose body is
  // replaced.
  if (M.getModuleFlag("cf-protection-branch") || M.getModuleFlag("kcfi"))
    return false;
  return none_of(WholeModuleOptions, isGiven);
}

/// Attributes that add code which no body has.
bool hasCodeBesides(const Function &F) {
  return F.hasPrefixData() || F.hasPrologueData() ||
         F.hasFnAttribute(Attribute::Naked) ||
         any_of(std::initializer_list<StringRef>{"patchable-function",
                                                 "patchable-function-entry",
                                                 "patchable-function-prefix",
                                                 "function-instrument",
                                                 "fentry-call"},
                [&](StringRef Name) { return F.hasFnAttribute(Name); });
}

bool hasEffect(const Instruction &I) {
  return I.mayHaveSideEffects() || I.mayReadFromMemory();
}

/// Whether code generation may make a jump of the call, as the last thing that
/// its function does: a return is reached with nothing else that reads or
/// writes. Intrinsics may vanish, and blocks be joined or copied, before.
bool mayEndFunction(const CallInst &Call) {
  SmallPtrSet<const BasicBlock *, 8> Reached;
  SmallVector<BasicBlock::const_iterator, 8> From = {
      std::next(Call.getIterator())};
  while (!From.empty()) {
    BasicBlock::const_iterator At = From.pop_back_val();
    while (!At->isTerminator() && (isa<IntrinsicInst>(*At) || !hasEffect(*At)))
      ++At;
    // Calling conventions that guarantee tail calls end in it too.
    if (isa<ReturnInst, UnreachableInst>(*At))
      return true;
    if (hasEffect(*At))
      continue;
    for (const BasicBlock *const Next : successors(At->getParent()))
      if (Reached.insert(Next).second)
        From.push_back(Next->begin());
  }
  return false;
}

/// The assembler writes a short jump to a near function whose symbol it
/// resolves itself.
bool mayJumpNearby(const Function &F) {
  const Module &M = *F.getParent();
  return any_of(instructions(F), [&](const Instruction &I) {
    const auto *const Call = dyn_cast<CallInst>(&I);
    const auto *const Callee =
        Call && Call->isTailCall()
            ? dyn_cast<GlobalValue>(Call->getCalledOperand())
            : nullptr;
    return Callee && !Callee->isDeclaration() &&
           (Callee->hasLocalLinkage() ||
            (Callee->isDSOLocal() && M.getPIELevel() == PIELevel::Default)) &&
           mayEndFunction(*Call);
  });
}

/// Whether a line of digests can have the name, which is that of the symbol.
bool hasPlainName(const Function &F) {
  return !F.getName().empty() &&
         none_of(F.getName(), [](unsigned char C) { return C < ' '; });
}

bool isForItself(const Function &F) {
  return hasPlainName(F) && !F.isDeclaration() &&
         !F.hasAvailableExternallyLinkage() && !hasCodeBesides(F) &&
         none_of(F,
                 [](const BasicBlock &BB) { return BB.hasAddressTaken(); }) &&
         (F.hasComdat() || !mayJumpNearby(F));
}

void replaceBody(Function &F, uint64_t Bytes) {
  // They choose the section.
  MDNode *const Profile = F.getMetadata(LLVMContext::MD_prof);
  MDNode *const Prefix = F.getMetadata(LLVMContext::MD_section_prefix);
  // Unlike deleteBody, it keeps the linkage. Metadata go with the body.
  F.dropAllReferences();
  F.setAttributes(
      F.getAttributes().removeFnAttribute(F.getContext(), Attribute::UWTable));
  F.addFnAttr(Attribute::Naked);
  F.addFnAttr(Attribute::NoInline);
  F.addFnAttr(Attribute::NoUnwind);
  F.setMetadata(LLVMContext::MD_prof, Profile);
  F.setMetadata(LLVMContext::MD_section_prefix, Prefix);
  IRBuilder<> Body(BasicBlock::Create(F.getContext(), "", &F));
  Body.CreateCall(InlineAsm::get(FunctionType::get(Body.getVoidTy(), false),
                                 ".skip " + utostr(Bytes), "",
                                 /*hasSideEffects=*/true));
  Body.CreateUnreachable();
}

} // namespace

std::string replaceKnown(Module &M, const KnownCode &Known) {
  std::string Others;
  if (!generatesEachFunctionAlone(M))
    return Others;
  // All digests come first: that of a function may look at another one.
  std::vector<std::pair<Function *, uint64_t>> Replaced;
  FunctionDigests DigestOf;
  for (Function &F : M) {
    if (!isForItself(F))
      continue;
    const std::string Digest = DigestOf(F);
    const auto Found = Known.find(Digest);
    if (Found != Known.end())
      Replaced.emplace_back(&F, Found->second);
    else
      Others += Digest + "\t" + F.getName().str() + "\n";
  }
  for (const auto &[F, Bytes] : Replaced)
    replaceBody(*F, Bytes);
  return Others;
}

void addKnown(KnownCode &Known, StringRef Digests,
              const object::ObjectFile &Object) {
  StringMap<uint64_t> Sizes;
  for (const auto &[Symbol, Size] : object::computeSymbolSizes(Object)) {
    Expected<StringRef> Name = Symbol.getName();
    if (!Name) {
      consumeError(Name.takeError());
      continue;
    }
    const auto [Entry, IsNew] = Sizes.try_emplace(*Name, Size);
    if (!IsNew)
      Entry->second = 0;
  }
  while (!Digests.empty()) {
    StringRef Line;
    std::tie(Line, Digests) = Digests.split('\n');
    const auto [Digest, Name] = Line.split('\t');
    const auto Found = Sizes.find(Name);
    // Nothing is known of a function with several symbols or none, such as one
    // whose name the target changes.
    if (Found != Sizes.end() && Found->second > 0)
      Known.emplace(Digest.str(), Found->second);
  }
}

std::string linesOf(const KnownCode &Known) {
  std::string Lines;
  for (const auto &[Digest, Bytes] : Known)
    Lines += Digest + "\t" + utostr(Bytes) + "\n";
  return Lines;
}

KnownCode knownIn(StringRef Lines) {
  KnownCode Known;
  while (!Lines.empty()) {
    StringRef Line;
    std::tie(Line, Lines) = Lines.split('\n');
    const auto [Digest, Bytes] = Line.split('\t');
    to_integer(Bytes, Known[Digest.str()]);
  }
  return Known;
}

} // namespace mlgo::search
