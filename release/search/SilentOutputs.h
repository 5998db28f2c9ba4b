// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

/// \file
/// A back end in a copy of the process: its files and messages.

#ifndef MLGO_RELEASE_SEARCH_SILENTOUTPUTS_H
#define MLGO_RELEASE_SEARCH_SILENTOUTPUTS_H

#include "clang/Basic/CodeGenOptions.h"
#include "clang/Basic/Diagnostic.h"

#include <string>

namespace mlgo::search {

/// Of the files that a back end opens itself, none but the object's. The code
/// is the same without them.
void writeNothingBesides(clang::CodeGenOptions &Options);

/// Notes the first error, and whether there was any message.
class NotedMessages final : public clang::DiagnosticConsumer {
public:
  std::string FirstError;
  bool Any = false;

private:
  void HandleDiagnostic(clang::DiagnosticsEngine::Level As,
                        const clang::Diagnostic &Message) override;
};

/// The former consumer is never destroyed: its destructor may write.
NotedMessages &noteMessagesOf(clang::DiagnosticsEngine &Diagnostics);

} // namespace mlgo::search

#endif // MLGO_RELEASE_SEARCH_SILENTOUTPUTS_H
