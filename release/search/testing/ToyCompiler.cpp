// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "ToyCompiler.h"

#include <algorithm>
#include <deque>

namespace mlgo::search::testing {
namespace {

int64_t limitOf(const Attempt &Asked) {
  switch (Asked.Elsewhere.Is) {
  case Otherwise::Rule::Default:
    break;
  case Otherwise::Rule::Policy:
    return ToyCompiler::PolicyLimit;
  case Otherwise::Rule::CostBelow:
    return Asked.Elsewhere.CostLimit;
  }
  return ToyCompiler::DefaultLimit;
}

} // namespace

Build ToyCompiler::build(const Attempt &Asked) const {
  Build Result;
  std::map<std::string, Body> Bodies;
  std::map<std::string, int> Savings;
  for (const ToyFunction &F : Program) {
    Savings[F.Name] = F.Saving;
    Body &Here = Bodies[F.Name];
    Here.Bytes = F.Bytes;
    std::deque<std::pair<std::string, std::string>> Questions;
    for (size_t Ordinal = 0; Ordinal < F.Calls.size(); ++Ordinal)
      Questions.emplace_back(F.Calls[Ordinal],
                             F.Name + '\t' + std::to_string(Ordinal));
    std::map<std::string, int> Occurrences;
    for (; !Questions.empty(); Questions.pop_front()) {
      const auto [Callee, Written] = Questions.front();
      const std::string Place = F.Name + '\t' + Callee + '\t' + Written;
      const CallSite Site = Place + '\t' + std::to_string(Occurrences[Place]++);
      const Body &Called = Bodies[Callee];
      const int InlinedBytes = Called.Bytes - Savings[Callee];
      const auto Given = Asked.Given.find(Site);
      const bool Inline = Given != Asked.Given.end()
                              ? Given->second
                              : InlinedBytes - CallBytes < limitOf(Asked);
      Result.Decided[Site] = Inline;
      Here.Bytes += Inline ? InlinedBytes : CallBytes;
      if (Inline)
        Questions.insert(Questions.end(), Called.Left.begin(),
                         Called.Left.end());
      else
        Here.Left.emplace_back(Callee, Written);
    }
  }
  for (const std::string &Name : reachable(Bodies)) {
    Result.Sizes[Name] = Bodies[Name].Bytes;
    Result.CodeBytes += Bodies[Name].Bytes;
  }
  return Result;
}

Functions
ToyCompiler::reachable(const std::map<std::string, Body> &Bodies) const {
  Functions Found;
  for (auto F = Program.rbegin(); F != Program.rend(); ++F) {
    if (!F->IsLocal)
      Found.insert(F->Name);
    if (!Found.count(F->Name))
      continue;
    for (const auto &[Callee, _] : Bodies.at(F->Name).Left)
      Found.insert(Callee);
  }
  return Found;
}

} // namespace mlgo::search::testing
