// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "SilentOutputs.h"

#include "BackendJob.h"

#include "llvm/ADT/SmallString.h"

namespace mlgo::search {

void writeNothingBesides(clang::CodeGenOptions &Options) {
  Options.SplitDwarfOutput.clear();
  (Options.*StackUsage).clear();
  Options.SaveTempsFilePrefix.clear();
}

void NotedMessages::HandleDiagnostic(clang::DiagnosticsEngine::Level As,
                                     const clang::Diagnostic &Message) {
  DiagnosticConsumer::HandleDiagnostic(As, Message);
  Any = true;
  if (As < clang::DiagnosticsEngine::Error || !FirstError.empty())
    return;
  llvm::SmallString<128> Text;
  Message.FormatDiagnostic(Text);
  FirstError = std::string(Text);
}

NotedMessages &noteMessagesOf(clang::DiagnosticsEngine &Diagnostics) {
  (void)Diagnostics.takeClient().release();
  auto *const Noted = new NotedMessages;
  Diagnostics.setClient(Noted);
  return *Noted;
}

} // namespace mlgo::search
