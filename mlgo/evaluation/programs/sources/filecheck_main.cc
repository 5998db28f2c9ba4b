// LLVM's FileCheck as a library: holds a text against a file of checks, verbosely, a few times over, as the program would for as many tests.
#include "llvm/ADT/SmallString.h"
#include "llvm/FileCheck/FileCheck.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/SourceMgr.h"
#include "llvm/Support/raw_ostream.h"

int main(int argc, char** argv) {
  if (argc != 3) return 2;
  auto checks = llvm::MemoryBuffer::getFile(argv[1], /*IsText=*/true);
  auto input = llvm::MemoryBuffer::getFile(argv[2], /*IsText=*/true);
  if (!checks || !input) return 2;
  size_t matched = 0;
  for (int turn = 0; turn < 4; ++turn) {
    llvm::FileCheckRequest request;
    request.CheckPrefixes = {"CHECK"};
    request.IgnoreCase = turn % 2 == 1;
    request.EnableVarScope = true;
    request.Verbose = true;
    llvm::FileCheck file_check(request);
    if (!file_check.ValidateCheckPrefixes()) return 1;

    llvm::SourceMgr sources;
    llvm::SmallString<4096> check_space, input_space;
    const llvm::StringRef check_text = file_check.CanonicalizeFile(**checks, check_space);
    sources.AddNewSourceBuffer(llvm::MemoryBuffer::getMemBuffer(check_text, "checks"), llvm::SMLoc());
    if (file_check.readCheckFile(sources, check_text)) return 1;
    const llvm::StringRef input_text = file_check.CanonicalizeFile(**input, input_space);
    sources.AddNewSourceBuffer(llvm::MemoryBuffer::getMemBuffer(input_text, "input"), llvm::SMLoc());
    std::vector<llvm::FileCheckDiag> found;
    if (!file_check.checkInput(sources, input_text, &found)) return 1;
    for (const llvm::FileCheckDiag& one : found) {
      matched += one.MatchTy == llvm::FileCheckDiag::MatchFoundAndExpected;
      if (turn == 0) llvm::outs() << one.InputStartLine << ':' << one.InputStartCol << '-' << one.InputEndCol << '\n';
    }
  }
  llvm::outs() << matched << " matched\n";
  return 0;
}
