// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

/// \file
/// What a function's digest depends on.

#include "Check.h"
#include "FunctionDigest.h"
#include "ParsedModule.h"

#include "llvm/ADT/StringRef.h"
#include "llvm/ADT/Twine.h"
#include "llvm/IR/Module.h"

#include <string>

using namespace llvm;
using mlgo::search::FunctionDigests;
using Parsed = mlgo::search::testing::ParsedModule;

namespace {

std::string digestIn(const Twine &Text) {
  Parsed In(Text);
  return FunctionDigests()(*In.M->getFunction("f"));
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

} // namespace

int main() {
  digestsAreOfContent();
  digestsLeaveOutDebugInformation();
  everythingThatCodeDependsOnCounts();
}
