// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

/// \file
/// The lines of decision files, written and read.

#include "Check.h"
#include "DecisionFormat.h"

#include <cstdint>
#include <string>

using namespace mlgo;

namespace {

void namesWithAnyBytes() {
  CHECK(escaped("a b%\xff") == "a%20b%25%FF");
  CHECK(unescaped("a%20b%25%FF") == "a b%\xff");
  std::string Any;
  for (int Byte = 0; Byte < 256; ++Byte)
    Any += static_cast<char>(Byte);
  CHECK(unescaped(escaped(Any)) == Any);
  // A '%' that begins no escape stands for itself.
  for (const char *const Same : {"", "%", "%4", "%g0", "%-1", "a%"})
    CHECK(unescaped(Same) == Same);
}

void linesOfASection() {
  CHECK(firstLine() == "mlgo-decisions 1\n");
  CHECK(sectionHeader(AnyModule, {}) == "module\t*\notherwise default\n");
  CHECK(sectionHeader("a b.c", Otherwise::policy()) ==
        "module\ta%20b.c\notherwise policy\n");
  std::string Lines;
  appendDecision(Lines, "a\tb\ta\t0\t0", true);
  appendDecision(Lines, "a\tc\ta\t0\t0", false);
  CHECK(Lines == "inline\ta\tb\ta\t0\t0\nkeep\ta\tc\ta\t0\t0\n");
  const auto Read = parseDecision("keep\ta\tc\ta\t0\t0");
  CHECK(Read && !Read->Inline && Read->Site == "a\tc\ta\t0\t0");
  for (const char *const Wrong :
       {"", "keep", "keep\ta\tc\ta\t0", "keep\ta\tc\ta\t0\t0\t",
        "kept\ta\tc\ta\t0\t0"})
    CHECK(!parseDecision(Wrong));
}

void linesOfEvictions() {
  CHECK(evictionsHeader("a b.c") == "evictions\ta%20b.c\n");
  std::string Lines;
  appendEviction(Lines, "f\t0\t00ff", "RBX");
  appendEviction(Lines, "f\t1\t00ff", "");
  CHECK(Lines == "evict\tf\t0\t00ff\tRBX\nspare\tf\t1\t00ff\n");
  const auto Evicts = parseEviction("evict\tf\t0\t00ff\tRBX"),
             Spares = parseEviction("spare\tf\t1\t00ff");
  CHECK(Evicts && Evicts->Question == "f\t0\t00ff" &&
        Evicts->Register == "RBX");
  CHECK(Spares && Spares->Question == "f\t1\t00ff" && Spares->Register.empty());
  for (const char *const Wrong :
       {"", "evict", "evict\tf\t0\t00ff", "evict\tf\t0\t00ff\t",
        "evict\tf\t0\t00ff\tRBX\t", "spare\tf\t0", "spare\tf\t0\t00ff\tRBX",
        "keep\tf\t0\t00ff"})
    CHECK(!parseEviction(Wrong));
}

void whatDecidesElsewhere() {
  const Otherwise All[] = {{},
                           Otherwise::policy(),
                           Otherwise::costBelow(-15),
                           Otherwise::costBelow(INT64_MIN)};
  for (const Otherwise &One : All) {
    const std::string Header = sectionHeader(AnyModule, One);
    const std::string Line = Header.substr(Header.find('\n') + 1);
    const auto Read =
        parseOtherwise(std::string_view(Line).substr(0, Line.size() - 1));
    CHECK(Read && *Read == One);
  }
  for (const char *const Wrong :
       {"", "default", "otherwise ", "otherwise cost-below ",
        "otherwise cost-below 1x", "otherwise cost-below +1",
        "otherwise cost-below 99999999999999999999"})
    CHECK(!parseOtherwise(Wrong));
}

} // namespace

int main() {
  namesWithAnyBytes();
  linesOfASection();
  linesOfEvictions();
  whatDecidesElsewhere();
}
