// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Allocation.h"

#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringExtras.h"

#include <algorithm>
#include <cstring>
#include <utility>

using namespace llvm;

namespace mlgo {
namespace {

/// A bound on what chance can cost: after so many questions for each one of the
/// default, only the default decides.
constexpr size_t MostQuestionsPerQuestion = 4;
constexpr size_t QuestionsAlwaysAllowed = 1000;

/// Ranges up to so many times as expensive as the one that asks may be evicted
/// by chance. Evicting more expensive ranges rarely pays.
constexpr float MostWeight = 4;

} // namespace

bool Allocation::decidesLike(const Allocation &Other) const {
  return std::equal(
      Decisions.begin(), Decisions.end(), Other.Decisions.begin(),
      Other.Decisions.end(), [](const Decision &A, const Decision &B) {
        return A.Register == B.Register && A.Question == B.Question;
      });
}

/// SplitMix64 (Steele, Lea, Flood: Fast splittable pseudorandom number
/// generators, 2014).
uint64_t PlannedAnswers::random() {
  uint64_t Z = Random += 0x9e3779b97f4a7c15;
  Z = (Z ^ Z >> 30) * 0xbf58476d1ce4e5b9;
  Z = (Z ^ Z >> 27) * 0x94d049bb133111eb;
  return Z ^ Z >> 31;
}

/// Integers and comparisons alone, so that every machine tries the same.
std::optional<MCRegister>
PlannedAnswers::byChance(const EvictionQuestion &Question) {
  if (!Plan.Changes ||
      random() % std::max<size_t>(Plan.Questions, 2 * Plan.Changes) >=
          Plan.Changes)
    return std::nullopt;
  const EvictionCandidate &Last = Question.Candidates.back();
  SmallVector<MCRegister, 33> Possible;
  for (const EvictionCandidate &Candidate : Question.Candidates)
    if (Last.Register || Candidate.Weight <= MostWeight * Last.Weight)
      Possible.push_back(Candidate.Register);
  return Possible[random() % Possible.size()];
}

MCRegister PlannedAnswers::answer(const EvictionQuestion &Question,
                                  const EvictionAnswers::Alternatives &By) {
  const bool TooMany =
      Plan.Questions &&
      Decisions.size() >
          MostQuestionsPerQuestion * Plan.Questions + QuestionsAlwaysAllowed;
  std::optional<MCRegister> Answer;
  if (!TooMany) {
    const auto Found = Plan.Given.find(Question.Name);
    if (Found != Plan.Given.end() && Question.offers(MCRegister(Found->second)))
      Answer = MCRegister(Found->second);
    if (const auto Chance = byChance(Question))
      Answer = Chance;
  }
  if (!Answer)
    Answer = Plan.ByDefault || TooMany ? By.Default() : By.Asked();
  Decision Taken{Question.Name, Answer->id(), {}};
  for (const EvictionCandidate &Candidate : Question.Candidates)
    Taken.Candidates.push_back(Candidate.Register.id());
  Decisions.push_back(std::move(Taken));
  return *Answer;
}

std::string serialized(const Allocation &Of) {
  uint64_t Bits;
  static_assert(sizeof(Bits) == sizeof(Of.Cost));
  std::memcpy(&Bits, &Of.Cost, sizeof(Bits));
  std::string Text = utostr(Bits) + '\n';
  for (const Decision &One : Of.Decisions) {
    Text += One.Question + ' ' + utostr(One.Register);
    for (const unsigned Candidate : One.Candidates)
      (Text += ' ') += utostr(Candidate);
    Text += '\n';
  }
  return Text + "end\n";
}

std::optional<Allocation> parsed(StringRef Text) {
  if (!Text.consume_back("end\n"))
    return std::nullopt;
  Allocation Made;
  auto [Cost, Rest] = Text.split('\n');
  uint64_t Bits;
  if (Cost.getAsInteger(10, Bits))
    return std::nullopt;
  std::memcpy(&Made.Cost, &Bits, sizeof(Bits));
  while (!Rest.empty()) {
    StringRef Line;
    std::tie(Line, Rest) = Rest.split('\n');
    SmallVector<StringRef, 36> Fields;
    Line.split(Fields, ' ');
    Decision One{Fields[0].str(), 0, {}};
    for (const StringRef Field : ArrayRef(Fields).drop_front()) {
      unsigned Number;
      if (Field.getAsInteger(10, Number))
        return std::nullopt;
      One.Candidates.push_back(Number);
    }
    if (One.Candidates.size() < 2)
      return std::nullopt;
    One.Register = One.Candidates.front();
    One.Candidates.erase(One.Candidates.begin());
    Made.Decisions.push_back(std::move(One));
  }
  return Made;
}

} // namespace mlgo
