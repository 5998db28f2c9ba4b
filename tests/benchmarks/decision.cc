// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

/// \file
/// CPU microseconds that one decision of a policy takes in each of its forms,
/// on real observations.
///
///   decision MODEL.tflite OBSERVATIONS
///
/// OBSERVATIONS: a line "<feature> <bytes>" per feature, an empty line, and
/// then every observation's features one after another. The compiled forms are
/// linked in (tests/backends/forms.cc). Prints a line "<form> <microseconds>"
/// each.
///
/// A round copies all observations into the inputs, one after another, with and
/// without evaluating; the difference is the evaluations' time. The forms take
/// turns, and each form's fastest round counts: other programs only ever make
/// one slower.

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <iterator>
#include <sstream>
#include <string>
#include <time.h>
#include <vector>

#include "tests/backends/backend.h"
#include "tests/backends/tflite_backend.h"

namespace {

constexpr int kRounds = 15;

struct Observations {
  std::vector<std::string> Features;
  std::vector<size_t> Bytes;
  size_t EachBytes = 0;
  std::string Values;

  size_t count() const { return Values.size() / EachBytes; }
};

Observations read(const char *Path) {
  std::ifstream File(Path, std::ios::binary);
  Observations Result;
  for (std::string Line; std::getline(File, Line) && !Line.empty();) {
    std::istringstream Words(Line);
    std::string Name;
    size_t Bytes = 0;
    Words >> Name >> Bytes;
    Result.Features.push_back(Name);
    Result.Bytes.push_back(Bytes);
    Result.EachBytes += Bytes;
  }
  Result.Values.assign(std::istreambuf_iterator<char>(File), {});
  if (Result.EachBytes == 0 || Result.Values.empty() ||
      Result.Values.size() % Result.EachBytes != 0)
    mlgo::fail(std::string(Path) + ": not whole observations");
  return Result;
}

double cpuMicroseconds() {
  timespec Now;
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &Now);
  return static_cast<double>(Now.tv_sec) * 1e6 +
         static_cast<double>(Now.tv_nsec) / 1e3;
}

struct Form {
  mlgo::Backend *Policy;
  std::vector<char *> Inputs = {};
  double Copying = 1e300, Deciding = 1e300;
  /// Of the decisions' first bytes: the forms' must be equal.
  uint64_t Sum = 0;
};

double round(Form &Which, const Observations &Real, bool Decide) {
  const double Start = cpuMicroseconds();
  const char *From = Real.Values.data();
  Which.Sum = 0;
  for (size_t N = 0; N < Real.count(); ++N) {
    for (size_t F = 0; F < Which.Inputs.size(); ++F) {
      if (Which.Inputs[F])
        std::memcpy(Which.Inputs[F], From, Real.Bytes[F]);
      From += Real.Bytes[F];
    }
    if (Decide) {
      Which.Policy->evaluate();
      uint32_t Decision;
      std::memcpy(&Decision, Which.Policy->decision(), sizeof(Decision));
      Which.Sum = Which.Sum * 31 + Decision;
    }
  }
  return (cpuMicroseconds() - Start) / static_cast<double>(Real.count());
}

} // namespace

int main(int argc, char **argv) {
  if (argc != 3)
    mlgo::fail("usage: decision MODEL.tflite OBSERVATIONS");
  mlgo::TfliteBackend Tflite(argv[1]);
  const auto Aot = mlgo::aotForm(Tflite.Decision),
             Cpp = mlgo::cppForm(Tflite.Decision);
  const Observations Real = read(argv[2]);
  Form Forms[] = {{Cpp.get()}, {&Tflite}, {Aot.get()}};
  for (Form &Each : Forms)
    for (const std::string &Feature : Real.Features)
      Each.Inputs.push_back(static_cast<char *>(Each.Policy->input(Feature)));
  for (int Round = 0; Round < kRounds; ++Round)
    for (Form &Each : Forms) {
      Each.Copying = std::min(Each.Copying, round(Each, Real, false));
      Each.Deciding = std::min(Each.Deciding, round(Each, Real, true));
    }
  for (const Form &Each : Forms) {
    if (Each.Sum != Forms[0].Sum)
      mlgo::fail(Each.Policy->Name + " and " + Forms[0].Policy->Name +
                 " decide differently");
    std::printf("%s %.4f\n", Each.Policy->Name.c_str(),
                Each.Deciding - Each.Copying);
  }
  return 0;
}
