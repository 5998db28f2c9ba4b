// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

/// \file
/// That code generation with known functions replaced gives the sizes, and for
/// all others the bytes, of one without.

#include "Check.h"
#include "KnownCode.h"
#include "ParsedModule.h"

#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/IR/LegacyPassManager.h"
#include "llvm/IR/Module.h"
#include "llvm/IR/Verifier.h"
#include "llvm/MC/TargetRegistry.h"
#include "llvm/Object/ObjectFile.h"
#include "llvm/Object/SymbolSize.h"
#include "llvm/Support/MemoryBuffer.h"
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
using mlgo::search::KnownCode;
using mlgo::search::knownIn;
using mlgo::search::linesOf;
using mlgo::search::replaceKnown;
using mlgo::search::testing::X86;
using Parsed = mlgo::search::testing::ParsedModule;

namespace {

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

define i32 @calls(i32 %x) {
  %y = tail call i32 @near(i32 %x)
  store volatile i32 %y, ptr @port
  ret i32 %y
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
  CHECK(Known.size() == 7);
  Parsed Whole(program(5)), Replaced(program(5));
  CHECK(replaceKnown(*Replaced.M, Known).empty());
  CHECK(Replaced.M->getFunction("first")->size() == 1);
  CHECK(Replaced.M->getFunction("calls")->front().size() == 2);
  CHECK(Replaced.M->getFunction("calls")->hasFnAttribute(Attribute::Naked));
  CHECK(!Replaced.M->getFunction("jumps")->hasFnAttribute(Attribute::Naked));
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
           "define internal void @near() {\nret void\n}\ndefine void @f(i1 "
           "%x) {\ntail call void @near()\nbr i1 %x, label %a, label "
           "%b\na:\nbr label %c\nb:\nstore volatile i32 0, ptr "
           "null\nbr label %c\nc:\nret void\n}\n",
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

void linesKeepWhatIsKnown() {
  CHECK(knownIn("").empty());
  const KnownCode Known = {{"one", 1}, {"two", 4294967296}};
  CHECK(linesOf(Known) == "one\t1\ntwo\t4294967296\n");
  CHECK(knownIn(linesOf(Known)) == Known);
}

} // namespace

int main() {
  InitializeAllTargetInfos();
  InitializeAllTargets();
  InitializeAllTargetMCs();
  InitializeAllAsmPrinters();
  InitializeAllAsmParsers();
  equalFunctionsAreGeneratedOnce();
  otherFunctionsAreGeneratedAsInAWholeCompile();
  someFunctionsAreNeverReplaced();
  whereFunctionsDependOnEachOtherNothingIsReplaced();
  otherTargetsAreCompiledWhole();
  namesWithoutACodeAreNotKnown();
  linesKeepWhatIsKnown();
}
