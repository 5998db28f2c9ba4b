// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

/// \file
/// Errors of the linker about bitcode. LLVM's texts name neither the file nor
/// what to do.

#ifndef MLGO_RELEASE_TOOLS_BITCODEERRORS_H
#define MLGO_RELEASE_TOOLS_BITCODEERRORS_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/raw_ostream.h"

#include <cstdint>
#include <string>

namespace mlgo {

/// Passes on what the linker writes. In errors about bitcode that it cannot
/// read or combine, adds the file and the remedy.
class BitcodeErrors final : public llvm::raw_ostream {
public:
  /// `Args` of the link must outlive the stream; they are read at the first
  /// such error.
  BitcodeErrors(llvm::raw_ostream &OS, llvm::ArrayRef<const char *> Args)
      : raw_ostream(/*unbuffered=*/true), OS(OS), Args(Args) {}

  bool is_displayed() const override { return OS.is_displayed(); }
  bool has_colors() const override { return OS.has_colors(); }

private:
  /// The linker writes each message at once, and one at a time.
  void write_impl(const char *Message, std::size_t Size) override;
  std::uint64_t current_pos() const override { return OS.tell(); }

  llvm::raw_ostream &OS;
  const llvm::ArrayRef<const char *> Args;
};

} // namespace mlgo

#endif // MLGO_RELEASE_TOOLS_BITCODEERRORS_H
