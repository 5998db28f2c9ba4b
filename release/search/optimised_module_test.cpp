// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

/// \file
/// What is compared of two compiles before code is generated.

#include "Check.h"
#include "OptimisedModule.h"
#include "ParsedModule.h"

#include <string>

using mlgo::search::digestOf;
using mlgo::search::estimatedCode;
using Parsed = mlgo::search::testing::ParsedModule;

namespace {

std::string add(const char *Linkage, const char *Name, int Number,
                int Instructions = 1) {
  std::string Body = "%v0 = add i32 %x, " + std::to_string(Number) + "\n";
  for (int At = 1; At < Instructions; ++At)
    Body += "%v" + std::to_string(At) + " = mul i32 %x, %v" +
            std::to_string(At - 1) + "\n";
  return std::string("define ") + Linkage + " i32 @" + Name + "(i32 %x) {\n" +
         Body + "ret i32 %v" + std::to_string(Instructions - 1) + "\n}\n";
}

std::string digest(const std::string &Text) {
  return digestOf(*Parsed(Text).M);
}

int64_t estimateOf(const std::string &Text) {
  return estimatedCode(*Parsed(Text).M);
}

void equalModulesHaveEqualDigests() {
  const std::string Both =
      add("", "f", 1) + add("internal", "g", 2) + "@a = global ptr @g\n";
  CHECK(digest(Both) == digest(Both));
  // 32 characters of each function with a body.
  CHECK(digest(Both).size() == 64);
  CHECK(digest(Both + "declare i32 @h(i32)\n") == digest(Both));
}

void anyFunctionAndTheirOrderCount() {
  const std::string F = add("", "f", 1), G = add("", "g", 2);
  CHECK(digest(F + G) != digest(F));
  CHECK(digest(F + G) != digest(G + F));
  CHECK(digest(F + G) != digest(F + add("", "g", 3)));
  CHECK(digest(F + G) != digest(F + add("internal", "g", 2)));
}

void moreInstructionsAreMoreCode() {
  int64_t Before = estimateOf(add("", "f", 1));
  CHECK(Before > 0);
  for (int Instructions = 2; Instructions < 6; ++Instructions) {
    const int64_t After = estimateOf(add("", "f", 1, Instructions));
    CHECK(After > Before);
    Before = After;
  }
  CHECK(estimateOf(add("", "f", 1) + add("", "g", 1, 3)) ==
        estimateOf(add("", "f", 1)) + estimateOf(add("", "g", 1, 3)));
}

/// An image has an inline function of several objects once, and one that is
/// defined elsewhere not from here.
void whatOtherObjectsHaveToo() {
  const int64_t Alone = estimateOf(add("", "f", 1, 4));
  CHECK(2 * estimateOf(add("linkonce_odr", "f", 1, 4)) == Alone);
  CHECK(2 * estimateOf(add("weak", "f", 1, 4)) == Alone);
  CHECK(estimateOf(add("internal", "f", 1, 4)) == Alone);
  CHECK(estimateOf(add("available_externally", "f", 1, 4)) == 0);
  CHECK(estimateOf("declare i32 @h(i32)\n") == 0);
}

} // namespace

int main() {
  equalModulesHaveEqualDigests();
  anyFunctionAndTheirOrderCount();
  moreInstructionsAreMoreCode();
  whatOtherObjectsHaveToo();
}
