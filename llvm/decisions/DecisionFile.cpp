// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "DecisionFile.h"
#include "UsageError.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/Support/Error.h"

#include <algorithm>
#include <cstring>
#include <system_error>
#include <tuple>
#include <utility>

using namespace llvm;

namespace mlgo {
namespace {

/// Ten times what a search over all of clang and LLVM would write. A larger
/// file is something else.
constexpr uint64_t MaxBytes = uint64_t(1) << 30;

constexpr StringRef NoFormat = "is not \"mlgo-decisions 1\"";
constexpr StringRef Remedy =
    ". Make it again with //mlgo:tune, or remove the option";

[[noreturn]] void cannotRead(StringRef Path, const Twine &Wrong) {
  endWithUsageError("-mlgo-decisions: cannot read " + Path + ": " + Wrong +
                    Remedy);
}

/// A file is read in blocks of this size, which fit a processor's cache.
constexpr size_t BlockBytes = size_t(1) << 18;

/// \param Number of the first line of `Text`.
void eachLineOf(StringRef Text, size_t Number,
                function_ref<void(size_t Number, StringRef Line)> Do) {
  for (; !Text.empty(); ++Number) {
    const auto [Line, Rest] = Text.split('\n');
    Do(Number, Line);
    Text = Rest;
  }
}

/// Makes room for a decision in each line, but no more than a compile can
/// spare: the lines may be empty.
template <typename Map> void reserveFor(StringRef Lines, Map &Decisions) {
  constexpr size_t Most = size_t(1) << 20;
  Decisions.reserve(std::min(Lines.count('\n'), Most));
}

/// Takes the last component from a path; empty if none is left. "a//./b" and
/// "a/b" have the same components.
StringRef takeLastComponent(StringRef &Path) {
  while (!Path.empty()) {
    StringRef Component;
    std::tie(Path, Component) =
        Path.contains('/') ? Path.rsplit('/') : std::pair(StringRef(), Path);
    if (!Component.empty() && Component != ".")
      return Component;
  }
  return {};
}

/// How many components, from the last, two paths share.
unsigned sharedComponents(StringRef A, StringRef B) {
  for (unsigned Count = 0;; ++Count) {
    const StringRef Last = takeLastComponent(A);
    if (Last.empty() || Last != takeLastComponent(B))
      return Count;
  }
}

} // namespace

std::unique_ptr<DecisionFile> DecisionFile::read(StringRef Path) {
  sys::fs::file_status Status;
  if (const std::error_code Error = sys::fs::status(Path, Status))
    cannotRead(Path, Error.message());
  // A device or a pipe may never end.
  if (!sys::fs::is_regular_file(Status))
    cannotRead(Path, "it is not a regular file");
  if (Status.getSize() > MaxBytes)
    cannotRead(Path, Twine(Status.getSize()) + " bytes are more than the " +
                         Twine(MaxBytes) + " that are allowed");
  Expected<sys::fs::file_t> Open = sys::fs::openNativeFileForRead(Path);
  if (!Open)
    cannotRead(Path, toString(Open.takeError()));
  std::unique_ptr<DecisionFile> File(new DecisionFile(Path));
  File->Open = *Open;
  File->findSections();
  return File;
}

std::unique_ptr<DecisionFile> DecisionFile::parse(std::string Content,
                                                  StringRef Path) {
  std::unique_ptr<DecisionFile> File(new DecisionFile(Path));
  File->InMemory = std::move(Content);
  File->findSections();
  return File;
}

DecisionFile::~DecisionFile() {
  if (Open)
    sys::fs::closeFile(*Open);
}

/// No mapping: another process may write the file, and a mapping that shrinks
/// would crash the compile.
size_t DecisionFile::readAt(uint64_t Position,
                            MutableArrayRef<char> Buffer) const {
  if (!Open)
    return InMemory.copy(Buffer.data(), Buffer.size(),
                         std::min<uint64_t>(Position, InMemory.size()));
  size_t Filled = 0;
  while (Filled < Buffer.size()) {
    Expected<size_t> Read = sys::fs::readNativeFileSlice(
        *Open, Buffer.drop_front(Filled), Position + Filled);
    if (!Read)
      cannotRead(Path, toString(Read.takeError()));
    if (*Read == 0)
      break;
    Filled += *Read;
  }
  return Filled;
}

uint64_t DecisionFile::eachLine(function_ref<void(const Line &)> Do) const {
  std::vector<char> Buffer(BlockBytes);
  // The buffer begins with the `Kept` bytes after `Position`, which are the
  // first part of a line.
  uint64_t Position = 0;
  size_t Kept = 0, Number = 0;
  while (true) {
    const size_t Read =
        readAt(Position + Kept, MutableArrayRef(Buffer).drop_front(Kept));
    const StringRef Text(Buffer.data(), Kept + Read);
    if (Position + Text.size() > MaxBytes)
      cannotRead(Path, "it grows while it is read, to more than the " +
                           Twine(MaxBytes) + " bytes that are allowed");
    size_t Start = 0;
    for (size_t End; (End = Text.find('\n', Start)) != StringRef::npos;
         Start = End + 1)
      Do({++Number, Position + Start, Text.slice(Start, End)});
    if (Text.size() < Buffer.size()) {
      if (Start < Text.size())
        Do({++Number, Position + Start, Text.drop_front(Start)});
      return Position + Text.size();
    }
    Position += Start;
    Kept = Text.size() - Start;
    std::memmove(Buffer.data(), Buffer.data() + Start, Kept);
    if (Kept == Buffer.size())
      Buffer.resize(2 * Kept);
  }
}

void DecisionFile::findSections() {
  StringSet<> Sources[2];
  const auto Begins = [&](const Line &At, Kind Of, StringRef Start) {
    // Most lines are decisions, which differ in the first letter.
    if (At.Text.empty() || At.Text.front() != Start.front() ||
        !At.Text.starts_with(Start))
      return false;
    if (!Sections.empty())
      Sections.back().End = At.Position;
    const uint64_t Begin = At.Position + At.Text.size() + 1;
    Sections.push_back({Of, unescaped(At.Text.drop_front(Start.size())),
                        At.Number + 1, Begin, Begin});
    if (!Sources[static_cast<size_t>(Of)].insert(Sections.back().Source).second)
      refuse(At.Number, "names a module a second time");
    return true;
  };
  bool IsEmpty = true;
  const uint64_t Size = eachLine([&](const Line &At) {
    IsEmpty = false;
    if (At.Number == 1 && At.Text != StringRef(FormatLine))
      refuse(1, NoFormat);
    if (!Begins(At, Kind::Inlining, ModuleStart) &&
        !Begins(At, Kind::Evictions, EvictionsStart) && At.Number == 2)
      refuse(2, "does not begin a module: \"module\" or \"evictions\" and, "
                "after a tab, its source file");
  });
  if (IsEmpty)
    refuse(1, NoFormat);
  if (!Sections.empty())
    Sections.back().End = std::max(Sections.back().Begin, Size);
}

void DecisionFile::refuse(size_t Number, StringRef Wrong) const {
  endWithUsageError("-mlgo-decisions: " + Path + ", line " + Twine(Number) +
                    " " + Wrong + Remedy);
}

const DecisionFile::Place *DecisionFile::placeOf(Kind Of,
                                                 StringRef Source) const {
  const Place *Any = nullptr, *Best = nullptr;
  unsigned BestShared = 0;
  bool Exact = false, Ambiguous = false;
  for (const Place &Section : Sections) {
    if (Section.Of != Of)
      continue;
    const bool IsExact = Section.Source == Source;
    if (Section.Source == AnyModule)
      Any = &Section;
    if (Exact && !IsExact)
      continue;
    const unsigned Shared = sharedComponents(Section.Source, Source);
    if ((IsExact && !Exact) || Shared > BestShared) {
      Best = &Section;
      BestShared = Shared;
      Exact = IsExact;
      Ambiguous = false;
    } else if (Shared == BestShared && Best) {
      Ambiguous = true;
    }
  }
  return Best && !Ambiguous ? Best : Any;
}

std::unique_ptr<MemoryBuffer> DecisionFile::linesOf(const Place &Of) const {
  auto Lines =
      WritableMemoryBuffer::getNewUninitMemBuffer(Of.End - Of.Begin, Path);
  if (readAt(Of.Begin, Lines->getBuffer()) < Lines->getBufferSize())
    cannotRead(Path, "it became shorter while it was read");
  return Lines;
}

std::optional<DecisionSection> DecisionFile::sectionOf(StringRef Source) const {
  const Place *const Found = placeOf(Kind::Inlining, Source);
  if (!Found)
    return std::nullopt;
  DecisionSection Section;
  Section.Lines = linesOf(*Found);
  auto [First, Decisions] = Section.Lines->getBuffer().split('\n');
  const std::optional<Otherwise> Elsewhere = parseOtherwise(First);
  if (!Elsewhere)
    refuse(
        Found->FirstNumber,
        R"(is none of "otherwise default", "otherwise policy" and "otherwise cost-below NUMBER")");
  Section.Elsewhere = *Elsewhere;
  reserveFor(Decisions, Section.Decisions);
  eachLineOf(Decisions, Found->FirstNumber + 1, [&](size_t Number, StringRef Text) {
    const std::optional<DecisionLine> Decision = parseDecision(Text);
    if (!Decision)
      refuse(
          Number,
          R"(is no decision: "inline" or "keep" and five fields, separated by tabs)");
    if (!Section.Decisions
             .try_emplace(Decision->Site,
                          DecisionSection::Decision{Decision->Inline})
             .second)
      refuse(Number, "decides about a call site a second time");
  });
  return Section;
}

std::optional<EvictionSection>
DecisionFile::evictionsOf(StringRef Source) const {
  const Place *const Found = placeOf(Kind::Evictions, Source);
  if (!Found)
    return std::nullopt;
  EvictionSection Section;
  Section.Lines = linesOf(*Found);
  const StringRef Decisions = Section.Lines->getBuffer();
  reserveFor(Decisions, Section.Decisions);
  eachLineOf(Decisions, Found->FirstNumber, [&](size_t Number, StringRef Text) {
    const std::optional<EvictionLine> Decision = parseEviction(Text);
    if (!Decision)
      refuse(
          Number,
          R"(is no decision: "evict" and four fields, or "spare" and three, separated by tabs)");
    if (!Section.Decisions
             .try_emplace(Decision->Question,
                          EvictionSection::Decision{Decision->Register})
             .second)
      refuse(Number, "decides about a live range a second time");
  });
  return Section;
}

} // namespace mlgo
