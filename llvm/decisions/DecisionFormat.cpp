// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "DecisionFormat.h"

#include <charconv>
#include <cstddef>
#include <system_error>

namespace mlgo {
namespace {

constexpr std::string_view OtherwiseStart = "otherwise ";
constexpr std::string_view CostBelow = "cost-below ";
constexpr std::string_view Inlined = "inline", Kept = "keep";
constexpr int SiteTabs = 4;
constexpr std::string_view Evicted = "evict", Unevicted = "spare";
constexpr int QuestionTabs = 2;
constexpr std::string_view HexDigits = "0123456789ABCDEF";

int tabsIn(std::string_view Text) {
  int Tabs = 0;
  for (const char C : Text)
    Tabs += C == '\t';
  return Tabs;
}

/// A function without a name cannot be told from others, so no line decides
/// about it.
bool startsWithField(std::string_view Text) {
  return !Text.empty() && Text.front() != '\t';
}

bool takeFront(std::string_view &Text, std::string_view Start) {
  if (Text.substr(0, Start.size()) != Start)
    return false;
  Text.remove_prefix(Start.size());
  return true;
}

std::optional<int64_t> number(std::string_view Text) {
  int64_t Value = 0;
  const auto [End, Error] =
      std::from_chars(Text.data(), Text.data() + Text.size(), Value);
  if (Error != std::errc() || End != Text.data() + Text.size())
    return std::nullopt;
  return Value;
}

/// The byte that two hexadecimal digits stand for.
std::optional<char> byteOf(std::string_view Digits) {
  unsigned char Value = 0;
  const auto [End, Error] =
      std::from_chars(Digits.data(), Digits.data() + Digits.size(), Value, 16);
  if (Digits.size() != 2 || Error != std::errc() ||
      End != Digits.data() + Digits.size())
    return std::nullopt;
  return static_cast<char>(Value);
}

} // namespace

std::string firstLine() { return std::string(FormatLine) + '\n'; }

std::string sectionHeader(std::string_view Source, const Otherwise &Elsewhere) {
  std::string Lines(ModuleStart);
  appendEscaped(Lines, Source);
  Lines += '\n';
  Lines += OtherwiseStart;
  switch (Elsewhere.Is) {
  case Otherwise::Rule::Default:
    Lines += "default";
    break;
  case Otherwise::Rule::Policy:
    Lines += "policy";
    break;
  case Otherwise::Rule::CostBelow:
    Lines += CostBelow;
    Lines += std::to_string(Elsewhere.CostLimit);
    break;
  }
  return Lines + '\n';
}

void appendDecision(std::string &Lines, std::string_view Site, bool Inline) {
  Lines += Inline ? Inlined : Kept;
  Lines += '\t';
  Lines += Site;
  Lines += '\n';
}

std::optional<Otherwise> parseOtherwise(std::string_view Line) {
  if (!takeFront(Line, OtherwiseStart))
    return std::nullopt;
  if (Line == "default")
    return Otherwise{};
  if (Line == "policy")
    return Otherwise::policy();
  if (!takeFront(Line, CostBelow))
    return std::nullopt;
  const std::optional<int64_t> Limit = number(Line);
  return Limit ? std::optional(Otherwise::costBelow(*Limit)) : std::nullopt;
}

std::optional<DecisionLine> parseDecision(std::string_view Line) {
  const size_t Tab = Line.find('\t');
  if (Tab == std::string_view::npos)
    return std::nullopt;
  const std::string_view Word = Line.substr(0, Tab),
                         Site = Line.substr(Tab + 1);
  if ((Word != Inlined && Word != Kept) || tabsIn(Site) != SiteTabs ||
      !startsWithField(Site) ||
      !startsWithField(Site.substr(Site.find('\t') + 1)))
    return std::nullopt;
  return DecisionLine{Word == Inlined, Site};
}

std::string evictionsHeader(std::string_view Source) {
  return std::string(EvictionsStart) + escaped(Source) + '\n';
}

void appendEviction(std::string &Lines, std::string_view Question,
                    std::string_view Register) {
  Lines += Register.empty() ? Unevicted : Evicted;
  Lines += '\t';
  Lines += Question;
  if (!Register.empty())
    (Lines += '\t') += Register;
  Lines += '\n';
}

std::optional<EvictionLine> parseEviction(std::string_view Line) {
  const size_t Tab = Line.find('\t');
  if (Tab == std::string_view::npos)
    return std::nullopt;
  const std::string_view Word = Line.substr(0, Tab),
                         Rest = Line.substr(Tab + 1);
  if (!startsWithField(Rest))
    return std::nullopt;
  const int Tabs = tabsIn(Rest);
  if (Word == Unevicted && Tabs == QuestionTabs)
    return EvictionLine{Rest, {}};
  const size_t Last = Rest.rfind('\t');
  if (Word != Evicted || Tabs != QuestionTabs + 1 || Last + 1 == Rest.size())
    return std::nullopt;
  return EvictionLine{Rest.substr(0, Last), Rest.substr(Last + 1)};
}

void appendEscaped(std::string &Line, std::string_view Text) {
  const auto IsPlain = [](unsigned char C) {
    return (C > ' ') & (C < 0x7f) & (C != '%');
  };
  // Almost every name is plain, and each question to an advisor has several.
  // Without a branch the compiler makes vectors.
  bool AllPlain = true;
  for (const char C : Text)
    AllPlain &= IsPlain(C);
  if (AllPlain) {
    Line += Text;
    return;
  }
  for (const unsigned char C : Text)
    if (IsPlain(C))
      Line += C;
    else
      (Line += '%') += {HexDigits[C >> 4], HexDigits[C & 15]};
}

std::string escaped(std::string_view Text) {
  std::string Line;
  appendEscaped(Line, Text);
  return Line;
}

std::string unescaped(std::string_view Field) {
  std::string Text;
  while (!Field.empty()) {
    const std::optional<char> Byte =
        Field.front() == '%' ? byteOf(Field.substr(1, 2)) : std::nullopt;
    Text += Byte.value_or(Field.front());
    Field.remove_prefix(Byte ? 3 : 1);
  }
  return Text;
}

} // namespace mlgo
