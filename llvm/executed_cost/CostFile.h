// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

/// \file
/// -mlgo-executed-cost-file: the executed cost of each function of a compile,
/// as a file (README.md).

#ifndef MLGO_LLVM_EXECUTED_COST_COSTFILE_H
#define MLGO_LLVM_EXECUTED_COST_COSTFILE_H

#include "llvm/ADT/StringRef.h"

#include <string>

namespace llvm {
class MachineFunction;
} // namespace llvm

namespace mlgo {

struct ExecutedCost;

constexpr llvm::StringRef CostFileOption = "mlgo-executed-cost-file";

/// Whether this compile is to write the file.
bool writesCostFile();

/// The file of one module.
class CostFile {
public:
  /// Of a function whose registers are allocated.
  void add(const llvm::MachineFunction &MF, const ExecutedCost &Cost);
  /// Replaces the file in one step, and forgets the functions. Ends the program
  /// with a sentence if it cannot be written.
  void write();

private:
  std::string Lines;
};

} // namespace mlgo

#endif // MLGO_LLVM_EXECUTED_COST_COSTFILE_H
