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
  size_t Start = std::min(FormatLine.size() + 1, Text.size());
  if (Start < Text.size() && !Text.substr(Start).starts_with(StringRef(ModuleStart)))
    refuse(Start, "does not begin a module: \"module\" and, after a tab, its source file");
  StringSet<> Sources;
  while (Start < Text.size()) {
    const size_t NameEnd = std::min(Text.find('\n', Start), Text.size());
    const size_t Begin = std::min(NameEnd + 1, Text.size());
    // Begin - 1, so that a section without any line of its own ends where it begins.
    const size_t Next = Text.find("\nmodule\t", Begin - 1);
    const size_t End = Next == StringRef::npos ? Text.size() : Next + 1;
    Sections.push_back({unescaped(Text.slice(Start + ModuleStart.size(), NameEnd)), Begin, End});
    if (!Sources.insert(Sections.back().Source).second)
      refuse(Start, "names a module a second time");
    Start = End;
  }
}

void DecisionFile::refuse(size_t Position, StringRef Wrong) const {
  const size_t Line = Content->getBuffer().take_front(Position).count('\n') + 1;
  endWithUsageError("-mlgo-decisions: " + Path + ", line " + Twine(Line) + " " + Wrong + Remedy);
}

const DecisionFile::Place *DecisionFile::placeOf(StringRef Source) const {
  const Place *Any = nullptr, *Best = nullptr;
  unsigned BestShared = 0;
  bool Exact = false, Ambiguous = false;
  for (const Place &Section : Sections) {
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

std::optional<DecisionSection> DecisionFile::sectionOf(StringRef Source) const {
  const Place *const Found = placeOf(Source);
  if (!Found)
    return std::nullopt;
  DecisionSection Section;
  const StringRef Text = Content->getBuffer();
  size_t Start = Found->Begin;
  Section.Decisions.reserve(Text.slice(Start, Found->End).count('\n'));
  for (bool First = true; First || Start < Found->End; First = false) {
    const size_t End = std::min(Text.find('\n', Start), Text.size());
    const StringRef Line = Text.slice(Start, End);
    if (First) {
      const std::optional<Otherwise> Elsewhere = parseOtherwise(Line);
      if (!Elsewhere)
        refuse(Start, R"(is none of "otherwise default", "otherwise policy" and "otherwise cost-below NUMBER")");
      Section.Elsewhere = *Elsewhere;
    } else {
      const std::optional<DecisionLine> Decision = parseDecision(Line);
      if (!Decision)
        refuse(Start, R"(is no decision: "inline" or "keep" and five fields, separated by tabs)");
      if (!Section.Decisions.try_emplace(Decision->Site, DecisionSection::Decision{Decision->Inline}).second)
        refuse(Start, "decides about a call site a second time");
    }
    Start = End + 1;
  }
  return Section;
}

} // namespace mlgo
