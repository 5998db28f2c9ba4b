// Work in a copy of this process.
#ifndef MLGO_RELEASE_SEARCH_CHILD_H
#define MLGO_RELEASE_SEARCH_CHILD_H

#include <memory>
#include <string>

#include "llvm/ADT/FunctionExtras.h"
#include "llvm/ADT/StringRef.h"

namespace llvm {
class MemoryBuffer;
} // namespace llvm

namespace mlgo::search {

// A file without a name, which ends with this process and its children.
class MemoryFile {
public:
  MemoryFile();
  MemoryFile(const MemoryFile &) = delete;
  ~MemoryFile();

  bool isOpen() const { return Descriptor >= 0; }
  int descriptor() const { return Descriptor; }
  // A path under which this process and its children can open it.
  std::string path() const;
  // Returns: whether all was written.
  bool write(llvm::StringRef Content);
  // Null: it cannot be read.
  std::unique_ptr<llvm::MemoryBuffer> content() const;

private:
  int Descriptor;
};

// Runs `Work` in a copy of this process, and waits for its end. The copy prints nothing, writes into no open file but
// memory files, removes no file, leaves no core, and ends with this process.
//
// Returns: whether `Work` returned true. A crash, an error of LLVM, or a machine without room for the copy is false.
bool succeedsInChild(llvm::unique_function<bool()> Work);

} // namespace mlgo::search

#endif // MLGO_RELEASE_SEARCH_CHILD_H
