// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "FunctionDigest.h"

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/IR/Attributes.h"
#include "llvm/IR/Constants.h"
#include "llvm/IR/DebugInfoMetadata.h"
#include "llvm/IR/Function.h"
#include "llvm/IR/GlobalVariable.h"
#include "llvm/IR/InlineAsm.h"
#include "llvm/IR/InstrTypes.h"
#include "llvm/IR/Instructions.h"
#include "llvm/IR/LLVMContext.h"
#include "llvm/IR/Metadata.h"
#include "llvm/IR/Module.h"
#include "llvm/IR/Operator.h"
#include "llvm/Support/raw_ostream.h"
#include "llvm/Support/xxhash.h"

#include <cstring>
#include <type_traits>
#include <utility>

using namespace llvm;

namespace mlgo::search {
namespace {

class Bytes {
public:
  template <typename T> void add(T Value) {
    static_assert(std::is_integral_v<T> || std::is_enum_v<T>);
    const size_t At = Content.size();
    Content.resize(At + sizeof(T));
    std::memcpy(&Content[At], &Value, sizeof(T));
  }
  void add(StringRef Text) {
    add(Text.size());
    Content.append(Text.begin(), Text.end());
  }
  void add(const APInt &Value) {
    add(Value.getBitWidth());
    for (unsigned Word = 0; Word < Value.getNumWords(); ++Word)
      add(Value.getRawData()[Word]);
  }

  ArrayRef<uint8_t> bytes() const { return arrayRefFromStringRef(Content); }

private:
  std::string Content;
};

/// Kinds that say nothing about code.
bool isAboutSource(unsigned Kind) {
  return Kind == LLVMContext::MD_dbg || Kind == LLVMContext::MD_DIAssignID ||
         Kind == LLVMContext::MD_annotation;
}

} // namespace

class FunctionDigests::Writer {
public:
  Writer(FunctionDigests &Of, Function &F) : Of(Of), F(F) {}

  std::string digest() {
    To.add(Of.ofGlobal(F));
    To.add(F.hasGC() ? StringRef(F.getGC()) : StringRef());
    To.add(F.hasPersonalityFn() ? Of.ofConstant(F.getPersonalityFn()) : 0);
    addMetadataOf(F);
    for (const Argument &A : F.args())
      number(A);
    for (const BasicBlock &BB : F) {
      number(BB);
      for (const Instruction &I : BB)
        number(I);
    }
    for (const BasicBlock &BB : F) {
      To.add(uint64_t(BB.size()));
      for (const Instruction &I : BB)
        add(I);
    }
    const auto Sum = xxh3_128bits(To.bytes());
    return utohexstr(Sum.high64, /*LowerCase=*/true, 16) +
           utohexstr(Sum.low64, /*LowerCase=*/true, 16);
  }

private:
  void number(const Value &V) { Numbers.try_emplace(&V, Numbers.size()); }

  void add(const Instruction &I) {
    To.add(I.getOpcode());
    To.add(Of.ofType(I.getType()));
    To.add(I.getRawSubclassOptionalData());
    To.add(I.getNumOperands());
    for (const Value *const Operand : I.operand_values())
      add(*Operand);
    addSpecial(I);
    if (I.hasMetadata())
      addMetadataOf(I);
  }

  void add(const Value &V) {
    // A letter each, so that no number of one kind is one of another.
    if (const auto Known = Numbers.find(&V); Known != Numbers.end()) {
      To.add('v');
      To.add(Known->second);
    } else if (const auto *const C = dyn_cast<Constant>(&V)) {
      To.add('c');
      To.add(Of.ofConstant(C));
    } else if (const auto *const Asm = dyn_cast<InlineAsm>(&V)) {
      To.add(Asm->getAsmString());
      To.add(Asm->getConstraintString());
      To.add(char(Asm->hasSideEffects() | Asm->isAlignStack() << 1 |
                  Asm->canThrow() << 2));
      To.add(Asm->getDialect());
    } else if (const auto *const Wrapped = dyn_cast<MetadataAsValue>(&V)) {
      add(Wrapped->getMetadata());
    }
  }

  void addSpecial(const Instruction &I) {
    if (const auto *const Local = dyn_cast<AllocaInst>(&I)) {
      To.add(Of.ofType(Local->getAllocatedType()));
      To.add(Local->getAlign().value());
      To.add(char(Local->isUsedWithInAlloca() | Local->isSwiftError() << 1));
    } else if (const auto *const Load = dyn_cast<LoadInst>(&I)) {
      addAccess(Load->getAlign(), Load->isVolatile(), Load->getOrdering(),
                Load->getSyncScopeID());
    } else if (const auto *const Store = dyn_cast<StoreInst>(&I)) {
      addAccess(Store->getAlign(), Store->isVolatile(), Store->getOrdering(),
                Store->getSyncScopeID());
    } else if (const auto *const Compare = dyn_cast<CmpInst>(&I)) {
      To.add(Compare->getPredicate());
    } else if (const auto *const Call = dyn_cast<CallBase>(&I)) {
      addCall(*Call);
    } else if (const auto *const Address = dyn_cast<GetElementPtrInst>(&I)) {
      To.add(Of.ofType(Address->getSourceElementType()));
    } else if (const auto *const Switch = dyn_cast<SwitchInst>(&I)) {
      // They are no operands.
      for (const auto &Case : Switch->cases())
        To.add(Case.getCaseValue()->getValue());
    } else if (const auto *const Phi = dyn_cast<PHINode>(&I)) {
      for (const BasicBlock *const From : Phi->blocks())
        add(*From);
    } else if (const auto *const Insert = dyn_cast<InsertValueInst>(&I)) {
      addAll(Insert->getIndices());
    } else if (const auto *const Extract = dyn_cast<ExtractValueInst>(&I)) {
      addAll(Extract->getIndices());
    } else if (const auto *const Shuffle = dyn_cast<ShuffleVectorInst>(&I)) {
      addAll(Shuffle->getShuffleMask());
    } else if (const auto *const Exchange = dyn_cast<AtomicCmpXchgInst>(&I)) {
      addAccess(Exchange->getAlign(), Exchange->isVolatile(),
                Exchange->getSuccessOrdering(), Exchange->getSyncScopeID());
      To.add(Exchange->getFailureOrdering());
      To.add(char(Exchange->isWeak()));
    } else if (const auto *const Update = dyn_cast<AtomicRMWInst>(&I)) {
      addAccess(Update->getAlign(), Update->isVolatile(), Update->getOrdering(),
                Update->getSyncScopeID());
      To.add(Update->getOperation());
    } else if (const auto *const Fence = dyn_cast<FenceInst>(&I)) {
      addAccess(Align(), false, Fence->getOrdering(), Fence->getSyncScopeID());
    } else if (const auto *const Pad = dyn_cast<LandingPadInst>(&I)) {
      To.add(char(Pad->isCleanup()));
    }
  }

  void addAccess(Align At, bool IsVolatile, AtomicOrdering Ordering,
                 SyncScope::ID Scope) {
    To.add(At.value());
    To.add(char(IsVolatile));
    To.add(Ordering);
    To.add(Scope);
  }

  template <typename T> void addAll(ArrayRef<T> Values) {
    To.add(Values.size());
    for (const T Value : Values)
      To.add(Value);
  }

  void addCall(const CallBase &Call) {
    To.add(Of.ofType(Call.getFunctionType()));
    To.add(Call.getCallingConv());
    To.add(Of.ofAttributes(Call.getAttributes()));
    if (const auto *const Plain = dyn_cast<CallInst>(&Call))
      To.add(Plain->getTailCallKind());
    for (unsigned Number = 0; Number < Call.getNumOperandBundles(); ++Number) {
      const OperandBundleUse Bundle = Call.getOperandBundleAt(Number);
      To.add(Bundle.getTagName());
      To.add(Bundle.Inputs.size());
    }
  }

  template <typename T> void addMetadataOf(const T &Described) {
    SmallVector<std::pair<unsigned, MDNode *>, 4> All;
    Described.getAllMetadata(All);
    for (const auto &[Kind, Node] : All) {
      if (isAboutSource(Kind))
        continue;
      To.add(Kind);
      add(Node);
    }
  }

  void add(const Metadata *Described) {
    if (!Described || isa<DINode>(Described) || isa<DILocation>(Described))
      return To.add('-');
    const auto [Known, IsNew] = Seen.try_emplace(Described, Seen.size());
    To.add(Known->second);
    if (!IsNew)
      return;
    if (const auto *const Text = dyn_cast<MDString>(Described)) {
      To.add(Text->getString());
    } else if (const auto *const Wrapped =
                   dyn_cast<ValueAsMetadata>(Described)) {
      add(*Wrapped->getValue());
    } else if (const auto *const Node = dyn_cast<MDNode>(Described)) {
      To.add(Node->getNumOperands());
      for (const MDOperand &Operand : Node->operands())
        add(Operand.get());
    } else {
      To.add(Described->getMetadataID());
    }
  }

  FunctionDigests &Of;
  Function &F;
  Bytes To;
  DenseMap<const Value *, uint64_t> Numbers;
  /// In the order of the first visit: scopes of aliases differ by nothing but
  /// what refers to them.
  DenseMap<const Metadata *, uint64_t> Seen;
};

std::string FunctionDigests::operator()(Function &F) {
  return Writer(*this, F).digest();
}

uint64_t FunctionDigests::ofType(Type *T) {
  const auto [Known, IsNew] = Types.try_emplace(T, 0);
  if (!IsNew)
    return Known->second;
  Bytes To;
  To.add(T->getTypeID());
  if (const auto *const Struct = dyn_cast<StructType>(T)) {
    // By content: passes make new types, and what they are called is of no
    // consequence.
    To.add(char(Struct->isPacked() | Struct->isOpaque() << 1));
    for (Type *const Element : Struct->elements())
      To.add(ofType(Element));
  } else if (const auto *const Array = dyn_cast<ArrayType>(T)) {
    To.add(Array->getNumElements());
    To.add(ofType(Array->getElementType()));
  } else {
    std::string Text;
    raw_string_ostream(Text) << *T;
    To.add(StringRef(Text));
  }
  // Not in `Known`, which the types of elements may have moved.
  return Types[T] = xxh3_64bits(To.bytes());
}

uint64_t FunctionDigests::ofAttributes(AttributeList List) {
  const auto [Known, IsNew] = Attributes.try_emplace(List.getRawPointer(), 0);
  if (!IsNew)
    return Known->second;
  Bytes To;
  for (const unsigned Index : List.indexes())
    To.add(StringRef(List.getAsString(Index)));
  return Known->second = xxh3_64bits(To.bytes());
}

uint64_t FunctionDigests::ofConstant(const Constant *C) {
  if (const auto Known = Constants.find(C); Known != Constants.end())
    return Known->second;
  // Ends the recursion at initializers that refer to each other.
  Constants[C] = 0;
  Bytes To;
  To.add(C->getValueID());
  To.add(ofType(C->getType()));
  if (const auto *const Global = dyn_cast<GlobalValue>(C)) {
    To.add(ofGlobal(*Global));
  } else if (const auto *const Integer = dyn_cast<ConstantInt>(C)) {
    To.add(Integer->getValue());
  } else if (const auto *const Number = dyn_cast<ConstantFP>(C)) {
    To.add(Number->getValueAPF().bitcastToAPInt());
  } else if (const auto *const Data = dyn_cast<ConstantDataSequential>(C)) {
    To.add(Data->getRawDataValues());
  } else {
    To.add(C->getRawSubclassOptionalData());
    if (const auto *const Expression = dyn_cast<ConstantExpr>(C))
      To.add(Expression->getOpcode());
    if (const auto *const Address = dyn_cast<GEPOperator>(C))
      To.add(ofType(Address->getSourceElementType()));
    for (const Value *const Operand : C->operand_values())
      if (const auto *const Part = dyn_cast<Constant>(Operand))
        To.add(ofConstant(Part));
  }
  return Constants[C] = xxh3_64bits(To.bytes());
}

uint64_t FunctionDigests::ofGlobal(const GlobalValue &Global) {
  Bytes To;
  To.add(Global.getName());
  To.add(Global.getLinkage());
  To.add(Global.getVisibility());
  To.add(Global.getThreadLocalMode());
  To.add(char(Global.isDSOLocal() | Global.isDeclaration() << 1));
  To.add(Global.getAddressSpace());
  To.add(ofType(Global.getValueType()));
  if (const auto Range = Global.getAbsoluteSymbolRange()) {
    To.add(Range->getLower());
    To.add(Range->getUpper());
  }
  if (const auto *const Object = dyn_cast<GlobalObject>(&Global)) {
    To.add(Object->getSection());
    To.add(char(Object->hasComdat()));
  }
  if (const auto *const Variable = dyn_cast<GlobalVariable>(&Global)) {
    To.add(Variable->getAlign() ? Variable->getAlign()->value() : 0);
    To.add(char(Variable->isConstant()));
    To.add(Variable->getCodeModelRaw());
    // Code generation reads small constants.
    if (Variable->isConstant() && Variable->hasInitializer())
      To.add(ofConstant(Variable->getInitializer()));
  } else if (const auto *const F = dyn_cast<Function>(&Global)) {
    To.add(F->getAlign().valueOrOne().value());
    To.add(F->getCallingConv());
    To.add(ofAttributes(F->getAttributes()));
  } else if (const auto *const Alias = dyn_cast<GlobalAlias>(&Global)) {
    To.add(ofConstant(Alias->getAliasee()));
  }
  return xxh3_64bits(To.bytes());
}

} // namespace mlgo::search
