// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Embeddings.h"

#include "Options.h"
#include "UsageError.h"
#include "VocabularyFile.h"

#include "llvm/ADT/SmallString.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Analysis/IR2Vec.h"
#include "llvm/Support/CommandLine.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/SHA256.h"

#include <mutex>
#include <string>

using namespace llvm;

namespace {

constexpr char GivenOption[] = "mlgo-ir2vec";
constexpr std::size_t DigestDigits = 16;

cl::opt<std::string> Given(GivenOption, cl::Hidden,
                           cl::value_desc("DIMENSION.DIGEST"),
                           cl::desc("In development mode, the inliner's policy "
                                    "and log also have the IR2Vec embeddings "
                                    "of caller and callee. The value names the "
                                    "vocabulary in the compiler's tree"));

/// The file in the tree of this program:
/// bin/../share/mlgo/ir2vec_vocabulary.json.
std::string fileInTree() {
  static int InThisProgram;
  SmallString<256> Path(sys::fs::getMainExecutable("", &InThisProgram));
  Path = sys::path::parent_path(sys::path::parent_path(Path));
  sys::path::append(Path, "share", "mlgo", "ir2vec_vocabulary.json");
  return std::string(Path);
}

/// Ends the program unless the file at `Path` is the wanted vocabulary.
void check(StringRef Path, StringRef Wanted, StringRef WantedBy) {
  const auto [WantedDimension, WantedDigest] = Wanted.split('.');
  unsigned Dimension;
  if (WantedDimension.getAsInteger(10, Dimension) ||
      WantedDigest.size() != DigestDigits)
    mlgo::endWithUsageError(
        WantedBy + ": '" + Wanted +
        "' does not name an IR2Vec vocabulary; give DIMENSION.DIGEST");
  const auto File = MemoryBuffer::getFile(Path);
  if (!File)
    mlgo::endWithUsageError(WantedBy + ": the IR2Vec vocabulary " + Path +
                            " cannot be read (" + File.getError().message() +
                            "); install the compiler with its whole tree");
  const std::size_t Found = mlgo::dimensionOfVocabulary((*File)->getBuffer());
  if (!Found)
    mlgo::endWithUsageError(
        WantedBy + ": the IR2Vec vocabulary " + Path +
        " is malformed; give the one that the policy was trained with");
  const std::string Digest =
      toHex(SHA256::hash(arrayRefFromStringRef((*File)->getBuffer())),
            /*LowerCase=*/true)
          .substr(0, DigestDigits);
  if (Found != Dimension)
    mlgo::endWithUsageError(
        WantedBy + ": the policy wants embeddings of " + WantedDimension +
        " numbers, and the IR2Vec vocabulary " + Path + " has vectors of " +
        Twine(Found) + "; give the one that the policy was trained with");
  if (Digest != WantedDigest)
    mlgo::endWithUsageError(WantedBy +
                            ": the policy wants the IR2Vec vocabulary " +
                            WantedDigest + ", and " + Path + " is " + Digest +
                            "; give the one that the policy was trained with");
}

/// LLVM reads the vocabulary of the file that this option names.
cl::opt<std::string> &vocabularyOption() {
  return mlgo::optionNamed<std::string>("ir2vec-vocab-path");
}

/// Once in a process: the back ends of ThinLTO ask in several threads.
void checkOnce(StringRef Wanted, StringRef WantedBy) {
  static std::mutex Mutex;
  static std::string Checked;
  const std::lock_guard<std::mutex> Lock(Mutex);
  cl::opt<std::string> &Path = vocabularyOption();
  if (Path.empty())
    Path.setValue(fileInTree());
  const std::string Asked = (Wanted + " " + Path.getValue()).str();
  if (Checked == Asked)
    return;
  check(Path.getValue(), Wanted, WantedBy);
  Checked = Asked;
}

} // namespace

void mlgo::observeEmbeddings(Module &M, ModuleAnalysisManager &MAM,
                             StringRef Wanted, StringRef WantedBy) {
  checkOnce(Wanted, WantedBy);
  // LLVM's advisor observes embeddings if the module has this result.
  if (!MAM.getResult<IR2VecVocabAnalysis>(M).isValid())
    endWithUsageError(WantedBy + ": LLVM cannot use the IR2Vec vocabulary " +
                      vocabularyOption().getValue());
}

void mlgo::observeGivenEmbeddings(Module &M, ModuleAnalysisManager &MAM) {
  if (!Given.empty())
    observeEmbeddings(M, MAM, Given, "-mlgo-ir2vec");
}
