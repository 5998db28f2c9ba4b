// A file of decisions (README.md).
#ifndef MLGO_LLVM_DECISIONS_DECISIONFILE_H
#define MLGO_LLVM_DECISIONS_DECISIONFILE_H

#include "DecisionFormat.h"

#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/ADT/StringRef.h"

namespace llvm {
class MemoryBuffer;
} // namespace llvm

namespace mlgo {

// The decisions for one module.
struct DecisionSection {
  struct Decision {
    bool Inline;
    bool Used = false;
  };
  Otherwise Elsewhere;
  // By the name of a call site, as it stands in the file.
  llvm::DenseMap<llvm::StringRef, Decision> Decisions;
};

// The eviction decisions for one module.
struct EvictionSection {
  struct Decision {
    // Empty: nothing is evicted.
    llvm::StringRef Register;
    bool Used = false;
  };
  // By the name of a question, as it stands in the file.
  llvm::DenseMap<llvm::StringRef, Decision> Decisions;
};

class DecisionFile {
public:
  // Reads the file, or ends the program with one error.
  static std::unique_ptr<DecisionFile> read(llvm::StringRef Path);
  // Content: of a file. Path: for errors.
  static std::unique_ptr<DecisionFile> parse(std::string Content, llvm::StringRef Path);
  ~DecisionFile();

  llvm::StringRef path() const { return Path; }

  // The section for a module that was compiled from `Source`, if there is one. Its names refer to this object. Only the
  // section's own lines are checked, because a large program's file has many sections and each compile needs one. Ends
  // the program with one error if a line is wrong.
  std::optional<DecisionSection> sectionOf(llvm::StringRef Source) const;
  // The same for eviction decisions.
  std::optional<EvictionSection> evictionsOf(llvm::StringRef Source) const;

private:
  enum class Kind { Inlining, Evictions };

  struct Place {
    Kind Of;
    std::string Source;
    // Position and number of the line after the section's first.
    size_t Begin;
    size_t End;
  };

  DecisionFile(std::unique_ptr<llvm::MemoryBuffer> Content, llvm::StringRef Path);

  const Place *placeOf(Kind Of, llvm::StringRef Source) const;
  // The lines of a section, each with its position; without newlines.
  void eachLine(const Place &Of, llvm::function_ref<void(size_t Position, llvm::StringRef Line)> Do) const;
  [[noreturn]] void refuse(size_t Position, llvm::StringRef Wrong) const;

  const std::unique_ptr<llvm::MemoryBuffer> Content;
  const std::string Path;
  std::vector<Place> Sections;
};

} // namespace mlgo

#endif // MLGO_LLVM_DECISIONS_DECISIONFILE_H
