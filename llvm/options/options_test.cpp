// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

/// \file
/// Options are found by their names, and what is wrong about one ends the
/// program with its name.

#include "Check.h"
#include "Options.h"

#include <string>

#include <sys/wait.h>
#include <unistd.h>

using namespace llvm;

namespace {

enum class Letter { A, B };

cl::opt<float> Number("test-number", cl::init(1));
cl::opt<Letter> Chosen("test-letter", cl::init(Letter::A),
                       cl::values(clEnumValN(Letter::A, "a", ""),
                                  clEnumValN(Letter::B, "b", "")));
int Stored;
cl::opt<int, /*ExternalStorage=*/true> Elsewhere("test-elsewhere",
                                                 cl::location(Stored));

/// What a child prints that ends by `Does`; fails if it does not end.
template <typename Function> std::string lastWordsOf(Function Does) {
  int Ends[2];
  CHECK(pipe(Ends) == 0);
  const pid_t Child = fork();
  if (Child == 0) {
    dup2(Ends[1], STDERR_FILENO);
    Does();
    _exit(0);
  }
  close(Ends[1]);
  std::string Said;
  char Buffer[4096];
  for (ssize_t Read; (Read = read(Ends[0], Buffer, sizeof(Buffer))) > 0;)
    Said.append(Buffer, Read);
  close(Ends[0]);
  int Status = 0;
  CHECK(waitpid(Child, &Status, 0) == Child);
  CHECK(!WIFEXITED(Status) || WEXITSTATUS(Status) != 0);
  return Said;
}

bool contains(const std::string &Text, const char *Part) {
  return Text.find(Part) != std::string::npos;
}

void optionsAreFound() {
  CHECK(&mlgo::optionNamed<float>("test-number") == &Number);
  CHECK(&mlgo::optionNamed<Letter>("test-letter") == &Chosen);
  CHECK(mlgo::findOption("test-letter") == &Chosen);
  CHECK(!mlgo::findOption("test-none"));
}

void optionsAreGivenOrNot() {
  CHECK(!mlgo::isGiven("test-number") && !mlgo::isGiven("test-none"));
  Number.addOccurrence(0, "test-number", "2");
  CHECK(mlgo::isGiven("test-number"));
}

void anUnknownNameEndsTheProgram() {
  const std::string Said =
      lastWordsOf([] { mlgo::optionNamed<float>("test-none"); });
  CHECK(contains(Said, "this LLVM has no option -test-none"));
}

void anotherTypeEndsTheProgram() {
  for (const std::string &Said :
       {lastWordsOf([] { mlgo::optionNamed<bool>("test-number"); }),
        lastWordsOf([] { mlgo::optionNamed<double>("test-number"); })})
    CHECK(contains(Said, "the option -test-number of this LLVM has values of "
                         "another type"));
  CHECK(contains(lastWordsOf([] { mlgo::optionNamed<int>("test-letter"); }),
                 "the option -test-letter"));
  CHECK(contains(lastWordsOf([] { mlgo::optionNamed<int>("test-elsewhere"); }),
                 "the option -test-elsewhere"));
}

} // namespace

int main() {
  optionsAreFound();
  optionsAreGivenOrNot();
  anUnknownNameEndsTheProgram();
  anotherTypeEndsTheProgram();
}
