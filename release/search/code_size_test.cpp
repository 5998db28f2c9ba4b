// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

/// \file
/// What functions count whose code the machine outliner moved.

#include "Check.h"
#include "CodeSize.h"
#include "OutlinedCode.h"
#include "ParsedModule.h"

#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/IR/LegacyPassManager.h"
#include "llvm/IR/Module.h"
#include "llvm/MC/TargetRegistry.h"
#include "llvm/Object/ObjectFile.h"
#include "llvm/Object/SymbolSize.h"
#include "llvm/Support/TargetSelect.h"
#include "llvm/Support/raw_ostream.h"
#include "llvm/Target/TargetMachine.h"
#include "llvm/Target/TargetOptions.h"

#include <map>
#include <memory>
#include <string>

using namespace llvm;
using mlgo::search::addSizes;
using mlgo::search::Build;
using mlgo::search::Functions;
using mlgo::search::isOutlined;
using mlgo::search::testing::X86;
using Parsed = mlgo::search::testing::ParsedModule;

namespace {

constexpr StringRef AArch64 = "aarch64-unknown-linux-gnu",
                    RISCV = "riscv64-unknown-linux-gnu",
                    Thumb = "thumbv7em-none-eabi";

struct Sizes {
  /// Function → bytes that count, and as the symbol table has them.
  std::map<std::string, double> Counted, Listed;
  uint64_t CodeBytes = 0;
};

Sizes sizesOf(const Twine &Text, StringRef Target, bool Sections) {
  Parsed In(Text, Target);
  std::string Error;
  const class Target *const Of =
      TargetRegistry::lookupTarget(In.M->getTargetTriple(), Error);
  CHECK(Of);
  TargetOptions Options;
  Options.FunctionSections = Sections;
  const std::unique_ptr<TargetMachine> Machine(Of->createTargetMachine(
      In.M->getTargetTriple(), "", "", Options, Reloc::PIC_));
  In.M->setDataLayout(Machine->createDataLayout());
  SmallVector<char, 0> Content;
  raw_svector_ostream Stream(Content);
  legacy::PassManager Passes;
  CHECK(!Machine->addPassesToEmitFile(Passes, Stream, nullptr,
                                      CodeGenFileType::ObjectFile));
  Passes.run(*In.M);
  const auto Object = cantFail(object::ObjectFile::createObjectFile(
      MemoryBufferRef(StringRef(Content.data(), Content.size()), "object")));
  Build Made;
  addSizes(Made, *Object, Functions(), 0);
  Sizes Found = {Made.Sizes, {}, Made.CodeBytes};
  for (const auto &[At, Size] : object::computeSymbolSizes(*Object))
    if (cantFail(At.getType()) == object::SymbolRef::ST_Function && Size)
      Found.Listed[cantFail(At.getName()).str()] = Size;
  return Found;
}

double sumOf(const std::map<std::string, double> &Bytes) {
  double Sum = 0;
  for (const auto &[_, Size] : Bytes)
    Sum += Size;
  return Sum;
}

std::string stores(unsigned Start) {
  std::string Text;
  for (unsigned Number = 0; Number < 9; ++Number) {
    const std::string Value = "%v" + utostr(Start + Number);
    Text += Value + " = getelementptr i32, ptr %p, i32 " + utostr(Number) +
            "\nstore volatile i32 " + utostr(300 + 77 * (Start + Number)) +
            ", ptr " + Value + "\n";
  }
  return Text;
}

/// `both` shares code with each of its neighbours.
std::string program() {
  const std::string Call = "call void @call(ptr %p)\n";
  const auto Define = [&](const char *Name, const std::string &Body) {
    return "define void @" + std::string(Name) +
           "(ptr %p) minsize optsize nounwind {\n" + Call + Body + Call +
           "ret void\n}\n";
  };
  return "declare void @call(ptr) nounwind\n" + Define("first", stores(10)) +
         Define("both", stores(10) + Call + stores(30)) +
         Define("second", stores(30)) +
         "define i32 @other(i32 %x) minsize optsize nounwind {\n"
         "%y = mul i32 %x, %x\nret i32 %y\n}\n";
}

void outlinedBytesAreChargedToTheirCallers() {
  for (const StringRef Target : {AArch64, RISCV, Thumb})
    for (const bool Sections : {false, true}) {
      const Sizes Found = sizesOf(program(), Target, Sections);
      CHECK(Found.Listed.size() > 4);
      CHECK(Found.Counted.size() == 4);
      CHECK(sumOf(Found.Counted) == sumOf(Found.Listed));
      CHECK(Found.Counted.at("both") > Found.Listed.at("both"));
      // On RISC-V one of the two alone.
      CHECK(Found.Counted.at("first") + Found.Counted.at("second") >
            Found.Listed.at("first") + Found.Listed.at("second"));
      CHECK(Found.Counted.at("other") == Found.Listed.at("other"));
    }
  const Sizes Plain = sizesOf(program(), X86, true);
  CHECK(Plain.Counted == Plain.Listed);
}

/// Of AArch64, whose instructions have 4 bytes: f calls an outlined function
/// once, g three times, h one that calls it twice. Nothing calls the last one.
std::string assembly(bool Sections) {
  const std::pair<const char *, const char *> Bodies[] = {
      {"f", "bl OUTLINED_FUNCTION_0;ret"},
      {"g", "bl OUTLINED_FUNCTION_0;bl OUTLINED_FUNCTION_0;"
            "bl OUTLINED_FUNCTION_0;ret"},
      {"h", "bl OUTLINED_FUNCTION_2_0;ret"},
      {"OUTLINED_FUNCTION_0", "nop;nop;nop;nop;nop;ret"},
      {"OUTLINED_FUNCTION_2_0",
       "bl OUTLINED_FUNCTION_0;bl elsewhere;b OUTLINED_FUNCTION_0"},
      {"OUTLINED_FUNCTION_3", "ret"}};
  std::string Text;
  for (const auto &[Name, Body] : Bodies) {
    const std::string Named = Name;
    std::string Lines = "\n.type " + Named + ",@function\n" + Named + ":;" +
                        Body + "\n.size " + Named + ",.-" + Named;
    if (Sections)
      Lines = "\n.section .text." + Named + ",\\22ax\\22,@progbits" + Lines;
    for (const StringRef Line : split(StringRef(Lines), '\n'))
      Text += "module asm \"" + Line.str() + "\"\n";
  }
  return Text;
}

void sharesAreThoseOfCalls() {
  for (const bool Sections : {false, true}) {
    const Sizes Found = sizesOf(assembly(Sections), AArch64, Sections);
    // 6 times 4 bytes for 6 calls, two of them in OUTLINED_FUNCTION_2_0, which
    // is h's.
    const std::map<std::string, double> Expected = {{"f", 8 + 4},
                                                    {"g", 16 + 12},
                                                    {"h", 8 + 12 + 8},
                                                    {"OUTLINED_FUNCTION_3", 4}};
    CHECK(Found.Counted == Expected);
    CHECK(Found.CodeBytes == 72);
  }
}

void namesOfTheOutliner() {
  CHECK(isOutlined("OUTLINED_FUNCTION_0"));
  CHECK(isOutlined("OUTLINED_FUNCTION_2_11"));
  CHECK(isOutlined("OUTLINED_FUNCTION_0.content.17"));
  CHECK(!isOutlined("OUTLINED_FUNCTION_"));
  CHECK(!isOutlined("my_OUTLINED_FUNCTION_0"));
  CHECK(!isOutlined("f"));
}

} // namespace

int main() {
  InitializeAllTargetInfos();
  InitializeAllTargets();
  InitializeAllTargetMCs();
  InitializeAllAsmPrinters();
  InitializeAllAsmParsers();
  outlinedBytesAreChargedToTheirCallers();
  sharesAreThoseOfCalls();
  namesOfTheOutliner();
}
