// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

/// \file
/// A policy decides the same, bit for bit, through TensorFlow Lite, compiled
/// ahead of time and as generated C++, on 100,000 observations made to be hard:
/// equal candidates, values on the borders of the normaliser's segments and
/// beside them, zeros, infinities, NaN, denormals, counts beyond what float
/// holds.
///
///   agreement_test MODEL.tflite BORDERS.txt
///
/// BORDERS.txt has a line "<feature> <value>" for every border (borders.py).
/// The compiled forms are linked in (forms.cc).

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <limits>
#include <map>
#include <memory>
#include <random>
#include <set>
#include <string>
#include <vector>

#include "tests/backends/backend.h"
#include "tests/backends/tflite_backend.h"

namespace {

constexpr int kObservations = 100000;
const char *const kMask = "mask";

using Random = std::mt19937_64;
using Borders = std::map<std::string, std::vector<double>>;

constexpr float kInfinity = std::numeric_limits<float>::infinity();
constexpr float kExtremes[] = {-0.0f,
                               -1.0f,
                               1e-45f,
                               -1e-45f,
                               1e-39f,
                               1.17549435e-38f,
                               kInfinity,
                               -kInfinity,
                               3.4e38f,
                               -3.4e38f,
                               std::numeric_limits<float>::quiet_NaN()};
constexpr int64_t kExtremeCounts[] = {
    INT64_MIN, -(1LL << 53) - 1, -(1LL << 24) - 1,
    -1,        (1LL << 24) - 1,  (1LL << 24) + 1,
    1LL << 40, (1LL << 53) + 1,  (1LL << 62) + (1LL << 38) + 1,
    INT64_MAX};

template <class T, class List> T oneOf(const List &Values, Random &R) {
  return static_cast<T>(Values[R() % std::size(Values)]);
}

Borders readBorders(const char *Path) {
  std::ifstream File(Path);
  Borders Result;
  std::string Name;
  double Value;
  while (File >> Name >> Value)
    Result[Name].push_back(Value);
  if (Result.empty())
    mlgo::fail(std::string(Path) + ": no borders");
  return Result;
}

/// Usually in [0, 1], often a value that others have too.
float someFloat(const std::vector<double> &OfFeature, Random &R) {
  switch (R() % 16) {
  case 0:
  case 1:
    return 0.0f;
  case 2:
    return 1.0f;
  case 3:
    return oneOf<float>(kExtremes, R);
  case 4:
  case 5:
  case 6:
    return OfFeature.empty() ? 0.5f : oneOf<float>(OfFeature, R);
  case 7:
  case 8:
  case 9:
    return std::nextafter(OfFeature.empty() ? 0.5f : oneOf<float>(OfFeature, R),
                          R() % 2 ? kInfinity : -kInfinity);
  default:
    return std::generate_canonical<float, 24>(R);
  }
}

int64_t someCount(const std::vector<double> &OfFeature, Random &R) {
  switch (R() % 8) {
  case 0:
    return oneOf<int64_t>(kExtremeCounts, R);
  case 1:
  case 2:
  case 3:
    return (OfFeature.empty() ? 0 : oneOf<int64_t>(OfFeature, R)) +
           static_cast<int64_t>(R() % 3) - 1;
  case 4:
    return static_cast<int64_t>(R() % 2000) - 200;
  default:
    return static_cast<int64_t>(R() % 8);
  }
}

/// 1 where a decision is legal; one position only, some or all. Rarely none,
/// which LLVM never asks; rarely other numbers than 0 and 1.
void fillMask(std::vector<int64_t> &Mask, Random &R) {
  const uint64_t LegalOf8 = R() % 9;
  for (int64_t &Value : Mask)
    Value = R() % 8 < LegalOf8;
  if (R() % 256)
    Mask[R() % Mask.size()] = 1;
  if (R() % 256 == 0)
    for (int64_t &Value : Mask)
      Value = Value ? 2 : -1;
}

class Agreement {
public:
  Agreement(const char *Model, const char *BordersPath)
      : Tflite(Model), Aot(mlgo::aotForm(Tflite.Decision)),
        Cpp(mlgo::cppForm(Tflite.Decision)),
        OfFeatures(readBorders(BordersPath)) {
    int Shared = 0;
    for (const mlgo::Feature &Feature : Tflite.Features)
      Shared += Aot->input(Feature.Name) && Cpp->input(Feature.Name);
    if (Shared < 1)
      mlgo::fail("no input in common: these are different policies");
  }

  /// Returns the exit code.
  int run() {
    Random R(20261120);
    std::set<std::string> Answers;
    int Disagreements = 0;
    for (int Observation = 0; Observation < kObservations; ++Observation) {
      fill(R);
      Tflite.evaluate();
      Aot->evaluate();
      Cpp->evaluate();
      const std::string Wanted = answer(Tflite), OfAot = answer(*Aot),
                        OfCpp = answer(*Cpp);
      if (!legal(Wanted)) {
        std::fprintf(stderr, "observation %d: %s is not a legal position\n",
                     Observation, text(Wanted).c_str());
        return 1;
      }
      Answers.insert(Wanted);
      if ((OfAot != Wanted || OfCpp != Wanted) && ++Disagreements <= 5)
        std::fprintf(stderr,
                     "observation %d: TensorFlow Lite %s, AOT %s, C++ %s\n",
                     Observation, text(Wanted).c_str(), text(OfAot).c_str(),
                     text(OfCpp).c_str());
    }
    std::printf("%d observations, %zu different decisions, %d disagreements\n",
                kObservations, Answers.size(), Disagreements);
    return Disagreements || Answers.size() < 2;
  }

private:
  void fill(Random &R) {
    int Positions = 1;
    for (const mlgo::Feature &Feature : Tflite.Features)
      Positions = std::max(Positions, Feature.Count);
    // Now and then a candidate is the copy of another one, or all are the same.
    std::vector<int> CopyOf(Positions);
    const bool AllAlike = R() % 16 == 0;
    for (int I = 0; I < Positions; ++I)
      CopyOf[I] = I > 0 && (AllAlike || R() % 4 == 0)
                      ? CopyOf[AllAlike ? 0 : R() % I]
                      : I;
    for (const mlgo::Feature &Feature : Tflite.Features) {
      const std::vector<double> &OfFeature = OfFeatures[Feature.Name];
      if (Feature.IsFloat) {
        std::vector<float> Values(Feature.Count);
        for (int I = 0; I < Feature.Count; ++I)
          Values[I] =
              CopyOf[I] == I ? someFloat(OfFeature, R) : Values[CopyOf[I]];
        write(Feature.Name, Values);
      } else {
        std::vector<int64_t> Values(Feature.Count);
        for (int I = 0; I < Feature.Count; ++I)
          Values[I] =
              CopyOf[I] == I ? someCount(OfFeature, R) : Values[CopyOf[I]];
        if (Feature.Name == kMask) {
          fillMask(Values, R);
          Mask = Values;
        }
        write(Feature.Name, Values);
      }
    }
  }

  template <class T>
  void write(const std::string &Feature, const std::vector<T> &Values) {
    for (void *To :
         {Tflite.input(Feature), Aot->input(Feature), Cpp->input(Feature)})
      if (To)
        std::memcpy(To, Values.data(), Values.size() * sizeof(T));
  }

  /// The decision's bytes, so that -0 is not 0.
  std::string answer(const mlgo::Backend &From) const {
    return std::string(static_cast<const char *>(From.decision()),
                       Tflite.DecisionIsFloat ? sizeof(float)
                                              : sizeof(int64_t));
  }

  std::string text(const std::string &Answer) const {
    if (Tflite.DecisionIsFloat) {
      float Value;
      std::memcpy(&Value, Answer.data(), sizeof(Value));
      return std::to_string(Value);
    }
    int64_t Value;
    std::memcpy(&Value, Answer.data(), sizeof(Value));
    return std::to_string(Value);
  }

  bool legal(const std::string &Answer) const {
    if (Mask.empty())
      return true;
    int64_t Position;
    std::memcpy(&Position, Answer.data(), sizeof(Position));
    bool Any = false;
    for (int64_t Value : Mask)
      Any |= Value > 0;
    return Position >= 0 && Position < static_cast<int64_t>(Mask.size()) &&
           (!Any || Mask[Position] > 0);
  }

  mlgo::TfliteBackend Tflite;
  std::unique_ptr<mlgo::Backend> Aot, Cpp;
  Borders OfFeatures;
  /// Of the present observation; empty when the problem has none.
  std::vector<int64_t> Mask;
};

} // namespace

int main(int argc, char **argv) {
  if (argc != 3) {
    std::fprintf(stderr, "usage: agreement_test MODEL.tflite BORDERS.txt\n");
    return 2;
  }
  return Agreement(argv[1], argv[2]).run();
}
