// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "CopiedCompile.h"

#include "CodeSize.h"
#include "CostFile.h"
#include "InliningDecisions.h"
#include "SilentChild.h"

#include "llvm/IR/DataLayout.h"
#include "llvm/IR/Module.h"
#include "llvm/Support/Error.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/raw_ostream.h"

#include <utility>

using namespace llvm;

namespace mlgo::search {
namespace {

uint64_t positionOfStreams() { return outs().tell() + errs().tell(); }

} // namespace

CopiedCompile::CopiedCompile(const Job &Of)
    : Of(Of), IsShared(Of.Options.ThinLTOIndexFile.empty()),
      Said(noteMessagesOf(Of.CI.getDiagnostics())),
      Printed(positionOfStreams()) {
  writeNothingBesides(Of.Options);
  setOption(ReplayDecisions, "");
  setOption(TakenDecisions, "");
  setOption(CostFileOption, "");
  // The pipeline is the same for all tries: the advisor is made when the
  // inliner starts.
  replaceDefaultInliner();
}

void CopiedCompile::optimise() { Of.emit(clang::Backend_EmitNothing, nullptr); }

CopiedCompile::Object CopiedCompile::generate() {
  if (IsShared)
    Of.Options.DisableLLVMPasses = true;
  Of.Options.PassBuilderCallbacks.clear();
  Object Code;
  Of.emit(clang::Backend_EmitObj, std::make_unique<raw_svector_ostream>(Code));
  requireNoError();
  return Code;
}

bool CopiedCompile::keepsFunctionsWhole() const {
  return !Of.Options.SplitMachineFunctions &&
         (Of.Options.BBSections.empty() || Of.Options.BBSections == "none");
}

bool CopiedCompile::hasError() const {
  return Of.CI.getDiagnostics().hasErrorOccurred();
}

void CopiedCompile::requireNoError() {
  if (hasError())
    loseTry(Said.FirstError);
}

bool CopiedCompile::prints() const {
  return Said.Any || positionOfStreams() != Printed;
}

std::unique_ptr<object::ObjectFile> CopiedCompile::read(StringRef Code) {
  auto Read =
      object::ObjectFile::createObjectFile(MemoryBufferRef(Code, SearchOption));
  if (!Read)
    loseTry(toString(Read.takeError()));
  return std::move(*Read);
}

Build CopiedCompile::measured(const object::ObjectFile &Code,
                              const Functions &Defined) const {
  Build Measured;
  addSizes(Measured, Code, Defined, Of.M.getDataLayout().getGlobalPrefix());
  return Measured;
}

} // namespace mlgo::search
