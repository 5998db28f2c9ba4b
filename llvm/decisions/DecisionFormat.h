// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

/// \file
/// The lines of files of decisions (README.md), for all that write or read
/// them. Needs nothing of LLVM.

#ifndef MLGO_LLVM_DECISIONS_DECISIONFORMAT_H
#define MLGO_LLVM_DECISIONS_DECISIONFORMAT_H

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace mlgo {

/// What decides at a call site that a section does not name: the default
/// heuristic, the advisor's policy, or whether LLVM's estimate of the call's
/// cost is below a limit.
struct Otherwise {
  enum class Rule { Default, Policy, CostBelow };
  Rule Is = Rule::Default;
  int64_t CostLimit = 0;

  static constexpr Otherwise policy() { return {Rule::Policy}; }
  static constexpr Otherwise costBelow(int64_t Limit) {
    return {Rule::CostBelow, Limit};
  }
  bool operator==(const Otherwise &Other) const {
    return Is == Other.Is && CostLimit == Other.CostLimit;
  }
};

/// A line that decides about a call site. The name of the site has five fields,
/// separated by tabs (CallSiteNames.h).
struct DecisionLine {
  bool Inline;
  std::string_view Site;
};

/// A line that decides about a live range without a register. The name of the
/// question has three fields, separated by tabs (EvictionAnswers.h). Register:
/// as the target names it; empty: nothing is evicted.
struct EvictionLine {
  std::string_view Question;
  std::string_view Register;
};

/// The first line of a file, without its newline.
inline constexpr std::string_view FormatLine = "mlgo-decisions 1";

/// The source of a section that holds for every module.
inline constexpr std::string_view AnyModule = "*";

/// How the first line of a section begins: of inlining decisions, of eviction
/// decisions. The module's source, escaped, follows.
inline constexpr std::string_view ModuleStart = "module\t";
inline constexpr std::string_view EvictionsStart = "evictions\t";

/// Lines with their newlines: the first of a file, those of a section before
/// its decisions, and a decision.
std::string firstLine();
std::string sectionHeader(std::string_view Source, const Otherwise &Elsewhere);
void appendDecision(std::string &Lines, std::string_view Site, bool Inline);

std::string evictionsHeader(std::string_view Source);
void appendEviction(std::string &Lines, std::string_view Question,
                    std::string_view Register);

/// Empty: the line, which is given without its newline, is of another form.
std::optional<Otherwise> parseOtherwise(std::string_view Line);
std::optional<DecisionLine> parseDecision(std::string_view Line);
std::optional<EvictionLine> parseEviction(std::string_view Line);

/// `Text` with %XX for each byte that would break the format: controls, space,
/// '%', bytes from 0x7f.
void appendEscaped(std::string &Line, std::string_view Text);
std::string escaped(std::string_view Text);
std::string unescaped(std::string_view Field);

} // namespace mlgo

#endif // MLGO_LLVM_DECISIONS_DECISIONFORMAT_H
