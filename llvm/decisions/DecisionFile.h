// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

/// \file
/// A file of decisions (README.md).

#ifndef MLGO_LLVM_DECISIONS_DECISIONFILE_H
#define MLGO_LLVM_DECISIONS_DECISIONFILE_H

#include "DecisionFormat.h"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MemoryBuffer.h"

namespace mlgo {

/// The decisions for one module.
struct DecisionSection {
  struct Decision {
    bool Inline;
    bool Used = false;
  };
  /// What the names below refer to.
  std::unique_ptr<llvm::MemoryBuffer> Lines;
  Otherwise Elsewhere;
  /// By the name of a call site, as it stands in the file.
  llvm::DenseMap<llvm::StringRef, Decision> Decisions;
};

/// The eviction decisions for one module.
struct EvictionSection {
  struct Decision {
    /// Empty: nothing is evicted.
    llvm::StringRef Register;
    bool Used = false;
  };
  /// What the names below, and those of the registers, refer to.
  std::unique_ptr<llvm::MemoryBuffer> Lines;
  /// By the name of a question, as it stands in the file.
  llvm::DenseMap<llvm::StringRef, Decision> Decisions;
};

/// The places of a file's sections. The sections themselves stay on the disk,
/// because a large program's file has many and each compile needs one.
class DecisionFile {
public:
  /// Reads the file, or ends the program with one error.
  static std::unique_ptr<DecisionFile> read(llvm::StringRef Path);
  /// \param Content of a file.
  /// \param Path for errors.
  static std::unique_ptr<DecisionFile> parse(std::string Content,
                                             llvm::StringRef Path);
  ~DecisionFile();

  llvm::StringRef path() const { return Path; }

  /// The section for a module that was compiled from `Source`, if there is one.
  /// Only the section's own lines are checked. Ends the program with one error
  /// if a line is wrong.
  std::optional<DecisionSection> sectionOf(llvm::StringRef Source) const;
  /// The same for eviction decisions.
  std::optional<EvictionSection> evictionsOf(llvm::StringRef Source) const;

private:
  enum class Kind { Inlining, Evictions };

  /// A line with its number, from 1, and its position; without its newline.
  struct Line {
    size_t Number;
    uint64_t Position;
    llvm::StringRef Text;
  };

  struct Place {
    Kind Of;
    std::string Source;
    /// The number and the position of the line after the section's first, and
    /// where the next section begins.
    size_t FirstNumber;
    uint64_t Begin;
    uint64_t End;
  };

  explicit DecisionFile(llvm::StringRef Path) : Path(Path.str()) {}

  void findSections();
  /// All lines, of which only some are in memory at a time. Returns the size of
  /// the file.
  uint64_t eachLine(llvm::function_ref<void(const Line &)> Do) const;
  /// Fills `Buffer` with what follows `Position`; returns how many bytes, which
  /// is less only at the end.
  size_t readAt(uint64_t Position, llvm::MutableArrayRef<char> Buffer) const;
  std::unique_ptr<llvm::MemoryBuffer> linesOf(const Place &Of) const;
  const Place *placeOf(Kind Of, llvm::StringRef Source) const;
  [[noreturn]] void refuse(size_t Number, llvm::StringRef Wrong) const;

  const std::string Path;
  /// What is read: an open file, or the content if it is none.
  std::optional<llvm::sys::fs::file_t> Open;
  std::string InMemory;
  std::vector<Place> Sections;
};

} // namespace mlgo

#endif // MLGO_LLVM_DECISIONS_DECISIONFILE_H
