// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Build.h"

#include <algorithm>
#include <iterator>
#include <optional>
#include <utility>
#include <vector>

namespace mlgo::search {
namespace {

/// LLVM's mark of a name that the target does not decorate. Symbol tables do
/// not have it.
constexpr std::string_view Undecorated = "%01";

std::string_view field(std::string_view Site, unsigned Number) {
  for (; Number > 0; --Number)
    Site.remove_prefix(std::min(Site.find('\t'), Site.size() - 1) + 1);
  return Site.substr(0, Site.find('\t'));
}

std::string symbol(std::string_view Field) {
  if (Field.substr(0, Undecorated.size()) == Undecorated)
    Field.remove_prefix(Undecorated.size());
  return std::string(Field);
}

} // namespace

std::string callerOf(std::string_view Site) { return symbol(field(Site, 0)); }
std::string calleeOf(std::string_view Site) { return symbol(field(Site, 1)); }
std::string placeOf(std::string_view Site) {
  return std::string(Site.substr(0, Site.rfind('\t')));
}

std::string fileOf(const Attempt &Asked) {
  std::string File = firstLine() + sectionHeader(AnyModule, Asked.Elsewhere);
  for (const auto &[Site, Inline] : Asked.Given)
    appendDecision(File, Site, Inline);
  return File;
}

Decisions decisionsIn(std::string_view File) {
  Decisions Found;
  while (!File.empty()) {
    const std::string_view Line = File.substr(0, File.find('\n'));
    File.remove_prefix(std::min(Line.size() + 1, File.size()));
    if (const std::optional<DecisionLine> Decision = parseDecision(Line))
      Found.insert_or_assign(std::string(Decision->Site), Decision->Inline);
  }
  return Found;
}

Attempt attemptIn(std::string_view File) {
  Attempt Found;
  Found.Given = decisionsIn(File);
  const size_t From = File.find("\notherwise ") + 1;
  if (const auto Rule =
          parseOtherwise(File.substr(From, File.find('\n', From) - From)))
    Found.Elsewhere = *Rule;
  return Found;
}

double Build::total() const {
  double Sum = 0;
  for (const auto &[Function, Bytes] : Sizes)
    Sum += Bytes;
  return Sum;
}

double Build::sizeOf(const std::string &Function) const {
  const auto Found = Sizes.find(Function);
  return Found == Sizes.end() ? 0 : Found->second;
}

Dependants::Dependants(const Build &Of) {
  for (const auto &[Site, Inlined] : Of.Decided)
    if (Inlined)
      InlinedInto[calleeOf(Site)].insert(callerOf(Site));
}

Functions Dependants::of(const std::string &Function) const {
  Functions Reached = {Function};
  std::vector<std::string> Left = {Function};
  while (!Left.empty()) {
    const auto Next = InlinedInto.find(std::exchange(Left.back(), {}));
    Left.pop_back();
    if (Next == InlinedInto.end())
      continue;
    for (const std::string &Caller : Next->second)
      if (Reached.insert(Caller).second)
        Left.push_back(Caller);
  }
  return Reached;
}

void transplant(Build &Into, const Build &From, const Functions &Where) {
  const auto IsThere = [&](const CallSite &Site) {
    return Where.count(callerOf(Site)) > 0;
  };
  for (auto Decision = Into.Decided.begin(); Decision != Into.Decided.end();)
    Decision = IsThere(Decision->first) ? Into.Decided.erase(Decision)
                                        : std::next(Decision);
  for (const auto &Decision : From.Decided)
    if (IsThere(Decision.first))
      Into.Decided.insert(Decision);
  for (const std::string &Function : Where) {
    Into.Sizes.erase(Function);
    if (const auto Size = From.Sizes.find(Function); Size != From.Sizes.end())
      Into.Sizes.insert(*Size);
  }
}

} // namespace mlgo::search
