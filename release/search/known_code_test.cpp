// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

/// \file
/// What a function's digest depends on, and that code generation with known
/// functions replaced gives the sizes, and for all others the bytes, of one
/// without.

#include "Check.h"
#include "FunctionDigest.h"
#include "KnownCode.h"

#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/AsmParser/Parser.h"
#include "llvm/IR/LLVMContext.h"
#include "llvm/IR/LegacyPassManager.h"
#include "llvm/IR/Module.h"
#include "llvm/IR/Verifier.h"
#include "llvm/MC/TargetRegistry.h"
#include "llvm/Object/ObjectFile.h"
#include "llvm/Object/SymbolSize.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/SourceMgr.h"
#include "llvm/Support/TargetSelect.h"
#include "llvm/Support/raw_ostream.h"
#include "llvm/Target/TargetMachine.h"
#include "llvm/Target/TargetOptions.h"
#include "llvm/TargetParser/Triple.h"

#include <map>
#include <memory>
#include <string>
#include <utility>

using namespace llvm;
using mlgo::search::addKnown;
using mlgo::search::FunctionDigests;
using mlgo::search::KnownCode;
using mlgo::search::replaceKnown;

namespace {

constexpr StringRef X86 = "x86_64-unknown-linux-gnu";

/// A module in a context of its own, as in another copy of a process.
struct Parsed {
  explicit Parsed(const Twine &Text, StringRef Target = X86) {
    SMDiagnostic Error;
    M = parseAssemblyString(Text.str(), Error, Context);
    if (!M)
      Error.print("known_code_test", errs());
    CHECK(M && !verifyModule(*M, &errs()));
    M->setTargetTriple(Triple(Target));
  }

  std::string print() const {
    std::string Text;
    raw_string_ostream(Text) << *M;
    return Text;
  }

  LLVMContext Context;
  std::unique_ptr<Module> M;
};

std::string digestIn(const Twine &Text) {
  Parsed In(Text);
  return FunctionDigests()(*In.M->getFunction("f"));
}

struct Symbol {
  std::string Section;
  uint64_t Size;
  std::string Bytes;
  bool operator==(const Symbol &Other) const {
    return Section == Other.Section && Size == Other.Size &&
           Bytes == Other.Bytes;
  }
};

struct Code {
  std::unique_ptr<SmallVector<char, 0>> Content;
  std::unique_ptr<object::ObjectFile> Object;
  std::map<std::string, Symbol> Functions;
  /// Bytes of the sections with code, by name.
  std::map<std::string, uint64_t> Sections;
};

Code generate(Module &M) {
  std::string Error;
  const Target *const Of =
      TargetRegistry::lookupTarget(M.getTargetTriple(), Error);
  CHECK(Of);
  const std::unique_ptr<TargetMachine> Machine(Of->createTargetMachine(
      M.getTargetTriple(), "", "", TargetOptions(), Reloc::PIC_));
  M.setDataLayout(Machine->createDataLayout());
  Code Made;
  Made.Content = std::make_unique<SmallVector<char, 0>>();
  raw_svector_ostream Stream(*Made.Content);
  legacy::PassManager Passes;
  CHECK(!Machine->addPassesToEmitFile(Passes, Stream, nullptr,
                                      CodeGenFileType::ObjectFile));
  Passes.run(M);
  Made.Object = cantFail(object::ObjectFile::createObjectFile(MemoryBufferRef(
      StringRef(Made.Content->data(), Made.Content->size()), "object")));
  for (const object::SectionRef &Section : Made.Object->sections())
    if (Section.isText())
      Made.Sections[cantFail(Section.getName()).str()] += Section.getSize();
  for (const auto &[At, Size] : object::computeSymbolSizes(*Made.Object)) {
    if (cantFail(At.getType()) != object::SymbolRef::ST_Function)
      continue;
    const object::SectionRef Section = *cantFail(At.getSection());
    const StringRef Bytes =
        cantFail(Section.getContents()).substr(cantFail(At.getAddress()), Size);
    Made.Functions[cantFail(At.getName()).str()] = {
        cantFail(Section.getName()).str(), Size, Bytes.str()};
  }
  return Made;
}

/// What is known after the module is compiled.
KnownCode knownOf(const Twine &Text) {
  Parsed In(Text);
  const std::string Digests = replaceKnown(*In.M, {});
  KnownCode Known;
  addKnown(Known, Digests, *generate(*In.M).Object);
  return Known;
}

constexpr char Plain[] = R"(
define i32 @f(i32 %x, ptr %p) {
  %y = add i32 %x, 7
  store i32 %y, ptr %p, align 4
  ret i32 %y
}
)";

void digestsAreOfContent() {
  const std::string Digest = digestIn(Plain);
  CHECK(Digest.size() == 32);
  CHECK(Digest == digestIn(Plain));
  // Other names of values, and another function before.
  CHECK(Digest == digestIn(R"(
define void @before() {
  ret void
}
define i32 @f(i32 %a, ptr %b) {
entry:
  %c = add i32 %a, 7
  store i32 %c, ptr %b, align 4
  ret i32 %c
}
)"));
}

void digestsLeaveOutDebugInformation() {
  CHECK(digestIn(Plain) == digestIn(R"(
define i32 @f(i32 %x, ptr %p) !dbg !4 {
  %y = add i32 %x, 7, !dbg !7
    #dbg_value(i32 %y, !8, !DIExpression(), !7)
  store i32 %y, ptr %p, align 4, !dbg !7
  ret i32 %y, !dbg !7
}
!llvm.dbg.cu = !{!0}
!llvm.module.flags = !{!2}
!0 = distinct !DICompileUnit(language: DW_LANG_C11, file: !1, emissionKind: FullDebug)
!1 = !DIFile(filename: "x.c", directory: "/")
!2 = !{i32 2, !"Debug Info Version", i32 3}
!3 = !DISubroutineType(types: !6)
!4 = distinct !DISubprogram(name: "f", scope: !1, file: !1, line: 1, type: !3, unit: !0, spFlags: DISPFlagDefinition)
!6 = !{}
!7 = !DILocation(line: 2, column: 1, scope: !4)
!8 = !DILocalVariable(name: "y", scope: !4, file: !1, line: 2, type: !9)
!9 = !DIBasicType(name: "int", size: 32, encoding: DW_ATE_signed)
)"));
}

/// A function around instructions, in a module with declarations.
std::string body(const Twine &Instructions) {
  return (R"(
%inner = type { i8, i32 }
%outer = type { %inner, i32 }
@g = external global i32
@t = external thread_local global i32
declare i32 @callee(ptr, ptr)
declare i32 @other(ptr, ptr)
define i32 @f(i32 %x, ptr %p, ptr %q) {
entry:
)" + Instructions +
          "\n}\n")
      .str();
}

/// Pairs that differ in one thing, on which code depends.
void everythingThatCodeDependsOnCounts() {
  const std::pair<const char *, const char *> Bodies[] = {
      // Case values, which are no operands of a switch.
      {"switch i32 %x, label %a [i32 1, label %b]\na:\nret i32 1\nb:\nret "
       "i32 2",
       "switch i32 %x, label %a [i32 900, label %b]\na:\nret i32 1\nb:\nret "
       "i32 2"},
      // Which block follows.
      {"%c = icmp eq i32 %x, 0\nbr i1 %c, label %a, label %b\na:\nret i32 "
       "1\nb:\nret i32 2",
       "%c = icmp eq i32 %x, 0\nbr i1 %c, label %b, label %a\na:\nret i32 "
       "1\nb:\nret i32 2"},
      {"%y = add i32 %x, 7\nret i32 %y", "%y = sub i32 %x, 7\nret i32 %y"},
      {"%y = add i32 %x, 7\nret i32 %y", "%y = add i32 %x, 700\nret i32 %y"},
      {"%y = add i32 %x, 7\nret i32 %y", "%y = add nsw i32 %x, 7\nret i32 %y"},
      {"%y = load i32, ptr %p, align 4\nret i32 %y",
       "%y = load i32, ptr %p, align 1\nret i32 %y"},
      {"%y = load i32, ptr %p, align 4\nret i32 %y",
       "%y = load volatile i32, ptr %p, align 4\nret i32 %y"},
      {"%y = load atomic i32, ptr %p monotonic, align 4\nret i32 %y",
       "%y = load atomic i32, ptr %p seq_cst, align 4\nret i32 %y"},
      {"fence seq_cst\nret i32 0", "fence acquire\nret i32 0"},
      {"fence seq_cst\nret i32 0",
       "fence syncscope(\"singlethread\") seq_cst\nret i32 0"},
      {"%y = atomicrmw add ptr %p, i32 %x seq_cst\nret i32 %y",
       "%y = atomicrmw xchg ptr %p, i32 %x seq_cst\nret i32 %y"},
      {"%y = cmpxchg ptr %p, i32 0, i32 1 seq_cst seq_cst\nret i32 0",
       "%y = cmpxchg weak ptr %p, i32 0, i32 1 seq_cst seq_cst\nret i32 0"},
      {"%c = icmp slt i32 %x, 3\n%y = zext i1 %c to i32\nret i32 %y",
       "%c = icmp ult i32 %x, 3\n%y = zext i1 %c to i32\nret i32 %y"},
      {"%r = getelementptr i32, ptr %p, i32 1\nstore i32 0, ptr %r\nret i32 0",
       "%r = getelementptr i64, ptr %p, i32 1\nstore i32 0, ptr %r\nret i32 0"},
      {"%r = getelementptr %outer, ptr %p, i32 1\nstore i32 0, ptr %r\nret "
       "i32 0",
       "%r = getelementptr %inner, ptr %p, i32 1\nstore i32 0, ptr %r\nret "
       "i32 0"},
      {"%v = alloca i32, align 4\nstore volatile i32 1, ptr %v\nret i32 0",
       "%v = alloca i32, align 64\nstore volatile i32 1, ptr %v\nret i32 0"},
      {"%v = alloca i32, align 4\nstore volatile i32 1, ptr %v\nret i32 0",
       "%v = alloca [9 x i32], align 4\nstore volatile i32 1, ptr %v\nret i32 "
       "0"},
      {"%y = call i32 @callee(ptr %p, ptr %q)\nret i32 %y",
       "%y = call i32 @other(ptr %p, ptr %q)\nret i32 %y"},
      {"%y = call i32 @callee(ptr %p, ptr %q)\nret i32 %y",
       "%y = call i32 @callee(ptr %q, ptr %p)\nret i32 %y"},
      {"%y = call i32 @callee(ptr %p, ptr %q)\nret i32 %y",
       "%y = tail call i32 @callee(ptr %p, ptr %q)\nret i32 %y"},
      {"%y = call i32 @callee(ptr %p, ptr %q)\nret i32 %y",
       "%y = call fastcc i32 @callee(ptr %p, ptr %q)\nret i32 %y"},
      {"%y = call i32 @callee(ptr %p, ptr %q)\nret i32 %y",
       "%y = call i32 @callee(ptr %p, ptr %q) nounwind\nret i32 %y"},
      // At which argument an attribute stands.
      {"%y = call i32 @callee(ptr byval(i64) %p, ptr %q)\nret i32 %y",
       "%y = call i32 @callee(ptr %p, ptr byval(i64) %q)\nret i32 %y"},
      {"%y = call i32 @callee(ptr %p, ptr %q) [\"x\"(i32 1)]\nret i32 %y",
       "%y = call i32 @callee(ptr %p, ptr %q) [\"y\"(i32 1)]\nret i32 %y"},
      {"%y = load i32, ptr @g\nret i32 %y",
       "%y = load i32, ptr @t\nret i32 %y"},
      {"%y = call i32 asm \"movl $1, $0\", \"=r,r\"(i32 %x)\nret i32 %y",
       "%y = call i32 asm \"leal 1($1), $0\", \"=r,r\"(i32 %x)\nret i32 %y"},
      {"%y = load i32, ptr %p, !range !{i32 0, i32 2}\nret i32 %y",
       "%y = load i32, ptr %p, !range !{i32 0, i32 9}\nret i32 %y"},
      {"%y = load i32, ptr %p, !nontemporal !{i32 1}\nret i32 %y",
       "%y = load i32, ptr %p\nret i32 %y"},
  };
  for (const auto &[One, Other] : Bodies)
    CHECK(digestIn(body(One)) != digestIn(body(Other)));
  // What stands outside the body.
  const std::pair<const char *, const char *> Modules[] = {
      {"define void @f() {\nret void\n}", "define void @f() minsize {\nret "
                                          "void\n}"},
      {"define void @f() {\nret void\n}", "define void @f() section \".x\" "
                                          "{\nret void\n}"},
      {"define void @f() {\nret void\n}", "define void @f() align 64 {\nret "
                                          "void\n}"},
      {"define void @f() {\nret void\n}", "define internal void @f() {\nret "
                                          "void\n}"},
      {"define void @f() {\nret void\n}", "define hidden void @f() {\nret "
                                          "void\n}"},
      {"define void @f() {\nret void\n}", "define fastcc void @f() {\nret "
                                          "void\n}"},
      {"define void @f() {\nret void\n}",
       "$f = comdat any\ndefine void @f() comdat {\nret void\n}"},
      {"define void @f() {\nret void\n}",
       "define void @f() !prof !0 {\nret void\n}\n!0 = "
       "!{!\"function_entry_count\", i64 0}"},
      {"define void @f() {\nret void\n}",
       "define void @f() gc \"shadow-stack\" {\nret void\n}"},
      {"@c = constant i32 1\ndefine ptr @f() {\nret ptr @c\n}",
       "@c = constant i32 2\ndefine ptr @f() {\nret ptr @c\n}"},
      {"@c = constant i32 1\ndefine ptr @f() {\nret ptr @c\n}",
       "@c = constant i32 1, align 64\ndefine ptr @f() {\nret ptr @c\n}"},
      {"@c = global i32 1\ndefine ptr @f() {\nret ptr @c\n}",
       "@c = dso_local global i32 1\ndefine ptr @f() {\nret ptr @c\n}"},
      {"@c = global i32 1\ndefine ptr @f() {\nret ptr @c\n}",
       "@c = global i32 1, code_model \"large\"\ndefine ptr @f() {\nret ptr "
       "@c\n}"},
      {"@c = external global i8\ndefine ptr @f() {\nret ptr @c\n}",
       "@c = external global i8, !absolute_symbol !0\ndefine ptr @f() {\nret "
       "ptr @c\n}\n!0 = !{i64 0, i64 128}"},
      {"declare void @g()\ndefine void @f() {\ncall void @g()\nret void\n}",
       "declare void @g() noreturn\ndefine void @f() {\ncall void @g()\nret "
       "void\n}"},
      // A type inside a type, of the same names.
      {"%i = type { i8 }\n%o = type { %i }\ndefine ptr @f(ptr %p) {\n%q = "
       "getelementptr { %o }, ptr %p, i32 3\nret ptr %q\n}",
       "%i = type { i64 }\n%o = type { %i }\ndefine ptr @f(ptr %p) {\n%q = "
       "getelementptr { %o }, ptr %p, i32 3\nret ptr %q\n}"},
  };
  for (const auto &[One, Other] : Modules)
    CHECK(digestIn(One) != digestIn(Other));
}

/// Functions with and without sections, comdats, profiles, a switch, an alias,
/// and calls among them.
std::string program(unsigned Case) {
  return R"(
$inline = comdat any
@port = external global i32
@data = internal constant [3 x i32] [i32 1, i32 2, i32 3]
@second = alias i32 (i32), ptr @first

define i32 @first(i32 %x) minsize optsize {
  switch i32 %x, label %other [i32 1, label %a
                               i32 )" +
         utostr(Case) + R"(, label %b]
a:
  store volatile i32 1, ptr @port
  br label %other
b:
  store volatile i32 2, ptr @port
  br label %other
other:
  ret i32 %x
}

define linkonce_odr i32 @inline(i32 %x) comdat {
  %at = getelementptr [3 x i32], ptr @data, i32 0, i32 %x
  %y = load i32, ptr %at
  ret i32 %y
}

define i32 @placed(i32 %x) section ".text.placed" {
  %y = mul i32 %x, 77
  store volatile i32 %y, ptr @port
  ret i32 %y
}

define i32 @cold(i32 %x) !prof !0 !section_prefix !1 {
  %y = xor i32 %x, 12345
  store volatile i32 %y, ptr @port
  ret i32 %y
}

define i32 @caller(i32 %x) {
  %a = call i32 @first(i32 %x)
  %b = call i32 @inline(i32 %a)
  %c = call i32 @placed(i32 %b)
  %d = call i32 @cold(i32 %c)
  ret i32 %d
}

define internal i32 @near(i32 %x) noinline {
  store volatile i32 %x, ptr @port
  ret i32 %x
}

define i32 @jumps(i32 %x) {
  %y = tail call i32 @near(i32 %x)
  ret i32 %y
}
!0 = !{!"function_entry_count", i64 0}
!1 = !{!"section_prefix", !"unlikely"}
)";
}

void equalFunctionsAreGeneratedOnce() {
  const KnownCode Known = knownOf(program(5));
  // The one that jumps is never replaced.
  CHECK(Known.size() == 6);
  Parsed Whole(program(5)), Replaced(program(5));
  CHECK(replaceKnown(*Replaced.M, Known).empty());
  CHECK(Replaced.M->getFunction("first")->size() == 1);
  CHECK(Replaced.M->getFunction("jumps")->front().size() == 2);
  CHECK(!verifyModule(*Replaced.M, &errs()));
  const Code Made = generate(*Whole.M), Skipped = generate(*Replaced.M);
  CHECK(Made.Sections == Skipped.Sections);
  CHECK(Made.Functions.size() == Skipped.Functions.size());
  for (const auto &[Name, At] : Made.Functions) {
    CHECK(Skipped.Functions.at(Name).Section == At.Section);
    CHECK(Skipped.Functions.at(Name).Size == At.Size);
  }
  CHECK(Made.Functions.at("jumps") == Skipped.Functions.at("jumps"));
}

void otherFunctionsAreGeneratedAsInAWholeCompile() {
  // With this value the switch has other code.
  const KnownCode Known = knownOf(program(5));
  Parsed Whole(program(100000)), Replaced(program(100000));
  const std::string Others = replaceKnown(*Replaced.M, Known);
  CHECK(StringRef(Others).count('\n') == 1);
  CHECK(StringRef(Others).ends_with("\tfirst\n"));
  const Code Made = generate(*Whole.M), Part = generate(*Replaced.M);
  CHECK(Made.Functions.at("first") == Part.Functions.at("first"));
  CHECK(Made.Functions.at("jumps") == Part.Functions.at("jumps"));
  CHECK(Made.Sections == Part.Sections);
  KnownCode More = Known;
  addKnown(More, Others, *Part.Object);
  CHECK(More.size() == Known.size() + 1);
}

void someFunctionsAreNeverReplaced() {
  for (const char *const Text : {
           "define void @f() naked {\ncall void asm sideeffect \"ret\", "
           "\"\"()\nunreachable\n}",
           "define void @f() prefix i32 1 {\nret void\n}",
           "define void @f() prologue i8 144 {\nret void\n}",
           "define void @f() \"patchable-function-entry\"=\"5\" {\nret void\n}",
           "define void @f() \"fentry-call\"=\"true\" {\nret void\n}",
           "define available_externally void @f() {\nret void\n}",
           "@a = global ptr blockaddress(@f, %b)\ndefine void @f() {\nbr label "
           "%b\nb:\nret void\n}",
           // A name with which a line of digests could not be read.
           "define void @\"f\\09g\"() {\nret void\n}",
           "define void @\"f\\0Ag\"() {\nret void\n}",
           "define void @\"\\01f\"() {\nret void\n}",
           "define void @0() {\nret void\n}",
           // Tail calls that may be short jumps, of an alias too.
           "define internal void @near() {\nret void\n}\n@a = internal alias "
           "void (), ptr @near\ndefine void @f() {\ntail call void "
           "@a()\nret void\n}\n",
       }) {
    Parsed In(Text);
    const std::string Digests = replaceKnown(*In.M, {});
    CHECK(!StringRef(Digests).contains("\tf"));
    CHECK(StringRef(Digests).count('\n') <= 1);
  }
}

void whereFunctionsDependOnEachOtherNothingIsReplaced() {
  const KnownCode Known = knownOf(program(5));
  const auto Refuses = [&Known](StringRef Target, StringRef Flags) {
    Parsed In(program(5) + Flags.str(), Target);
    const std::string Before = In.print();
    CHECK(replaceKnown(*In.M, Known).empty());
    CHECK(In.print() == Before);
  };
  for (const char *const Target :
       {"aarch64-unknown-linux-gnu", "riscv64-unknown-linux-gnu",
        "armv7-unknown-linux-gnueabihf", "i686-unknown-linux-gnu",
        "x86_64-apple-macosx", "x86_64-pc-windows-msvc"})
    Refuses(Target, "");
  Refuses(X86, "!llvm.module.flags = !{!9}\n!9 = !{i32 8, "
               "!\"cf-protection-branch\", i32 1}\n");
  Refuses(X86, "!llvm.module.flags = !{!9}\n!9 = !{i32 4, !\"kcfi\", i32 1}\n");
}

/// Elsewhere nothing is known, and the object is that of a plain compile.
void otherTargetsAreCompiledWhole() {
  for (const char *const Target :
       {"aarch64-unknown-linux-gnu", "riscv64-unknown-linux-gnu"}) {
    Parsed Whole(program(5), Target), Asked(program(5), Target);
    CHECK(replaceKnown(*Asked.M, knownOf(program(5))).empty());
    const Code Made = generate(*Whole.M), Same = generate(*Asked.M);
    CHECK(*Made.Content == *Same.Content);
  }
}

void namesWithoutACodeAreNotKnown() {
  Parsed In("define void @f() {\nret void\n}\ndefine void @g() {\nret void\n}");
  const Code Made = generate(*In.M);
  KnownCode Known;
  addKnown(Known, "one\tf\ntwo\tnobody\nthree", *Made.Object);
  CHECK(Known.size() == 1 && Known.at("one") == 1);
}

} // namespace

int main() {
  InitializeAllTargetInfos();
  InitializeAllTargets();
  InitializeAllTargetMCs();
  InitializeAllAsmPrinters();
  InitializeAllAsmParsers();
  digestsAreOfContent();
  digestsLeaveOutDebugInformation();
  everythingThatCodeDependsOnCounts();
  equalFunctionsAreGeneratedOnce();
  otherFunctionsAreGeneratedAsInAWholeCompile();
  someFunctionsAreNeverReplaced();
  whereFunctionsDependOnEachOtherNothingIsReplaced();
  otherTargetsAreCompiledWhole();
  namesWithoutACodeAreNotKnown();
}
