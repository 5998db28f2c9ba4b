// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Message.h"

#include "llvm/ADT/StringExtras.h"

#include <initializer_list>
#include <string_view>
#include <vector>

using namespace llvm;

namespace mlgo::search {
namespace {

/// The parts, and after them their lengths: an object that comes first keeps
/// its alignment.
std::string message(std::initializer_list<StringRef> Parts) {
  std::string Text, Lengths;
  for (const StringRef Part : Parts) {
    Text += Part;
    Lengths += " " + utostr(Part.size());
  }
  return Text + "\n" + Lengths;
}

/// The parts of such a message.
std::vector<StringRef> partsOf(StringRef Message) {
  const auto [Text, Lengths] = Message.rsplit('\n');
  std::vector<StringRef> Parts;
  size_t From = 0;
  for (const StringRef Length : split(Lengths.drop_front(), ' ')) {
    size_t Size = 0;
    to_integer(Length, Size);
    Parts.push_back(Text.substr(From, Size));
    From += Size;
  }
  return Parts;
}

StringRef flag(bool IsSet) { return IsSet ? "yes" : ""; }

} // namespace

std::string messageOf(const Searched &Result) {
  const std::optional<Attempt> &Chosen = Result.Chosen;
  return message({Result.Object, Chosen ? fileOf(*Chosen) : "",
                  flag(Chosen.has_value()), flag(Chosen && Chosen->AsReleased),
                  utostr(Result.Compiles), utostr(Result.BytesBefore),
                  utostr(Result.BytesAfter), flag(Result.Prints)});
}

Searched searchedIn(StringRef Message) {
  const std::vector<StringRef> Parts = partsOf(Message);
  Searched Result;
  Result.Object = Parts[0].str();
  if (!Parts[2].empty()) {
    Result.Chosen = attemptIn(std::string_view(Parts[1]));
    Result.Chosen->AsReleased = !Parts[3].empty();
  }
  to_integer(Parts[4], Result.Compiles);
  to_integer(Parts[5], Result.BytesBefore);
  to_integer(Parts[6], Result.BytesAfter);
  Result.Prints = !Parts[7].empty();
  return Result;
}

std::string messageOf(const Tried &Result) {
  return message({Result.Object, Result.Taken, Result.Digests,
                  flag(Result.Prints), Result.DigestOfInlined});
}

Tried triedIn(StringRef Message) {
  const std::vector<StringRef> Parts = partsOf(Message);
  return {Parts[0], Parts[1], Parts[2], !Parts[3].empty(), Parts[4]};
}

std::string messageOf(const Waiting &Result) {
  return message({Result.Digest, itostr(Result.Estimate)});
}

Waiting waitingIn(StringRef Message) {
  const std::vector<StringRef> Parts = partsOf(Message);
  Waiting Result = {Parts[0]};
  to_integer(Parts[1], Result.Estimate);
  return Result;
}

} // namespace mlgo::search
