// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "VocabularyFile.h"

#include "llvm/Support/Error.h"
#include "llvm/Support/JSON.h"

using namespace llvm;

namespace {

/// The deepest value of a vocabulary is a number in a vector in a section in
/// the object.
constexpr int MostNesting = 3;

/// Whether brackets nest as deep as in a vocabulary: LLVM's JSON parser is
/// recursive and has no limit.
bool isShallow(StringRef Content) {
  int Depth = 0;
  for (const char C : Content) {
    Depth += (C == '[' || C == '{') - (C == ']' || C == '}');
    if (Depth > MostNesting)
      return false;
  }
  return true;
}

/// The dimension of the vectors of a section; 0 if they have not one and the
/// same.
std::size_t dimensionOfSection(const json::Object *Section) {
  std::size_t Dimension = 0;
  if (!Section)
    return 0;
  for (const auto &[Name, Value] : *Section) {
    const json::Array *const Vector = Value.getAsArray();
    if (!Vector || Vector->empty() ||
        (Dimension && Vector->size() != Dimension))
      return 0;
    Dimension = Vector->size();
    for (const json::Value &Number : *Vector)
      if (!Number.getAsNumber())
        return 0;
  }
  return Dimension;
}

} // namespace

std::size_t mlgo::dimensionOfVocabulary(StringRef Content) {
  if (!isShallow(Content))
    return 0;
  Expected<json::Value> Parsed = json::parse(Content);
  if (!Parsed) {
    consumeError(Parsed.takeError());
    return 0;
  }
  const json::Object *const Root = Parsed->getAsObject();
  if (!Root)
    return 0;
  const std::size_t Dimension = dimensionOfSection(Root->getObject("Opcodes"));
  for (const StringRef Name : {"Types", "Arguments"})
    if (dimensionOfSection(Root->getObject(Name)) != Dimension)
      return 0;
  return Dimension;
}
