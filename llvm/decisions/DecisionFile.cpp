#include "DecisionFile.h"
#include "UsageError.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MemoryBuffer.h"

#include <algorithm>
#include <system_error>
#include <tuple>
#include <utility>

using namespace llvm;

namespace mlgo {
namespace {

// Ten times what a search over all of clang and LLVM would write. A larger file is something else.
constexpr uint64_t MaxBytes = uint64_t(1) << 30;

constexpr StringRef Remedy = ". Make it again with //mlgo:tune, or remove the option";

[[noreturn]] void cannotRead(StringRef Path, const Twine &Wrong) {
  endWithUsageError("-mlgo-decisions: cannot read " + Path + ": " + Wrong + Remedy);
}

// Takes the last component from a path; empty if none is left. "a//./b" and "a/b" have the same components.
StringRef takeLastComponent(StringRef &Path) {
  while (!Path.empty()) {
    StringRef Component;
    std::tie(Path, Component) = Path.contains('/') ? Path.rsplit('/') : std::pair(StringRef(), Path);
    if (!Component.empty() && Component != ".")
      return Component;
  }
  return {};
}

// How many components, from the last, two paths share.
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
    cannotRead(Path, Twine(Status.getSize()) + " bytes are more than the " + Twine(MaxBytes) + " that are allowed");
  // Volatile: another process may write the file, and a mapping that shrinks would crash the compile.
  auto Content = MemoryBuffer::getFile(Path, /*IsText=*/false, /*RequiresNullTerminator=*/false, /*IsVolatile=*/true);
  if (!Content)
    cannotRead(Path, Content.getError().message());
  return std::unique_ptr<DecisionFile>(new DecisionFile(std::move(*Content), Path));
}

std::unique_ptr<DecisionFile> DecisionFile::parse(std::string Content, StringRef Path) {
  return std::unique_ptr<DecisionFile>(new DecisionFile(MemoryBuffer::getMemBufferCopy(Content), Path));
}

DecisionFile::~DecisionFile() = default;

DecisionFile::DecisionFile(std::unique_ptr<MemoryBuffer> Given, StringRef Path)
    : Content(std::move(Given)), Path(Path.str()) {
  const StringRef Text = Content->getBuffer();
  if (Text.split('\n').first != StringRef(FormatLine))
    refuse(0, "is not \"mlgo-decisions 1\"");
  const size_t First = std::min(FormatLine.size() + 1, Text.size());
  // Where each kind of section begins next. Found once, because a file may have one kind of section alone.
  size_t NextOf[] = {Text.find("\nmodule\t", First - 1), Text.find("\nevictions\t", First - 1)};
  const StringRef Starts[] = {StringRef(ModuleStart), StringRef(EvictionsStart)};
  if (First < Text.size() && std::min(NextOf[0], NextOf[1]) + 1 != First)
    refuse(First, "does not begin a module: \"module\" or \"evictions\" and, after a tab, its source file");
  StringSet<> Sources[2];
  while (std::min(NextOf[0], NextOf[1]) != StringRef::npos) {
    const unsigned Of = NextOf[1] < NextOf[0];
    const size_t Start = NextOf[Of] + 1;
    const size_t NameEnd = std::min(Text.find('\n', Start), Text.size());
    const size_t Begin = std::min(NameEnd + 1, Text.size());
    NextOf[Of] = Text.find(("\n" + Starts[Of]).str(), NameEnd);
    const size_t Next = std::min(NextOf[0], NextOf[1]);
    const size_t End = Next == StringRef::npos ? Text.size() : Next + 1;
    Sections.push_back({static_cast<Kind>(Of), unescaped(Text.slice(Start + Starts[Of].size(), NameEnd)), Begin, End});
    if (!Sources[Of].insert(Sections.back().Source).second)
      refuse(Start, "names a module a second time");
  }
}

void DecisionFile::refuse(size_t Position, StringRef Wrong) const {
  const size_t Line = Content->getBuffer().take_front(Position).count('\n') + 1;
  endWithUsageError("-mlgo-decisions: " + Path + ", line " + Twine(Line) + " " + Wrong + Remedy);
}

const DecisionFile::Place *DecisionFile::placeOf(Kind Of, StringRef Source) const {
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

void DecisionFile::eachLine(const Place &Of, function_ref<void(size_t, StringRef)> Do) const {
  const StringRef Text = Content->getBuffer();
  for (size_t Start = Of.Begin; Start < Of.End;) {
    const size_t End = std::min(Text.find('\n', Start), Text.size());
    Do(Start, Text.slice(Start, End));
    Start = End + 1;
  }
}

std::optional<DecisionSection> DecisionFile::sectionOf(StringRef Source) const {
  const Place *const Found = placeOf(Kind::Inlining, Source);
  if (!Found)
    return std::nullopt;
  constexpr char NoRule[] = R"(is none of "otherwise default", "otherwise policy" and "otherwise cost-below NUMBER")";
  if (Found->Begin == Found->End)
    refuse(Found->Begin, NoRule);
  DecisionSection Section;
  Section.Decisions.reserve(Content->getBuffer().slice(Found->Begin, Found->End).count('\n'));
  eachLine(*Found, [&](size_t Position, StringRef Line) {
    if (Position == Found->Begin) {
      const std::optional<Otherwise> Elsewhere = parseOtherwise(Line);
      if (!Elsewhere)
        refuse(Position, NoRule);
      Section.Elsewhere = *Elsewhere;
      return;
    }
    const std::optional<DecisionLine> Decision = parseDecision(Line);
    if (!Decision)
      refuse(Position, R"(is no decision: "inline" or "keep" and five fields, separated by tabs)");
    if (!Section.Decisions.try_emplace(Decision->Site, DecisionSection::Decision{Decision->Inline}).second)
      refuse(Position, "decides about a call site a second time");
  });
  return Section;
}

std::optional<EvictionSection> DecisionFile::evictionsOf(StringRef Source) const {
  const Place *const Found = placeOf(Kind::Evictions, Source);
  if (!Found)
    return std::nullopt;
  EvictionSection Section;
  Section.Decisions.reserve(Content->getBuffer().slice(Found->Begin, Found->End).count('\n'));
  eachLine(*Found, [&](size_t Position, StringRef Line) {
    const std::optional<EvictionLine> Decision = parseEviction(Line);
    if (!Decision)
      refuse(Position, R"(is no decision: "evict" and four fields, or "spare" and three, separated by tabs)");
    if (!Section.Decisions.try_emplace(Decision->Question, EvictionSection::Decision{Decision->Register}).second)
      refuse(Position, "decides about a live range a second time");
  });
  return Section;
}

} // namespace mlgo
