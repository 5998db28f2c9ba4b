// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

/// \file
/// Names of call sites that survive edits elsewhere in the source.

#ifndef MLGO_LLVM_DECISIONS_CALLSITENAMES_H
#define MLGO_LLVM_DECISIONS_CALLSITENAMES_H

#include <string>

#include "llvm/ADT/StringMap.h"

namespace llvm {
class CallBase;
class Module;
} // namespace llvm

namespace mlgo {

/// The name of a call site has five fields, separated by tabs:
///
///   caller      the function in which the call stands now
///   callee      the function that it calls
///   origin      the function in which the call was written
///   ordinal     its position among the calls of one callee in the origin, from
///   0 occurrence  how many questions about a call with these four names came
///   before
///
/// No field depends on code elsewhere in the file.
class CallSiteNames {
public:
  /// Marks the calls of `M` by metadata, which stay with a call when it is
  /// copied into another function. No call must have been inlined yet. The
  /// destructor removes the marks.
  explicit CallSiteNames(llvm::Module &M);
  ~CallSiteNames();
  CallSiteNames(const CallSiteNames &) = delete;
  CallSiteNames &operator=(const CallSiteNames &) = delete;

  /// Must be asked about each call for which an advisor decides, in its order.
  std::string nextNameOf(const llvm::CallBase &CB);

private:
  llvm::Module &M;
  const unsigned Kind;
  llvm::StringMap<unsigned> Questions;
};

} // namespace mlgo

#endif // MLGO_LLVM_DECISIONS_CALLSITENAMES_H
