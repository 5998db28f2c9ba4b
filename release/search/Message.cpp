// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Message.h"

#include "llvm/ADT/StringExtras.h"

using namespace llvm;

namespace mlgo::search {

std::string message(std::initializer_list<StringRef> Parts) {
  std::string Text, Lengths;
  for (const StringRef Part : Parts) {
    Text += Part;
    Lengths += " " + utostr(Part.size());
  }
  return Text + "\n" + Lengths;
}

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

} // namespace mlgo::search
