// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

/// \file
/// Eviction decisions that were taken before the compile, for the register
/// allocators of all our compilers (README.md).

#ifndef MLGO_LLVM_DECISIONS_EVICTIONDECISIONS_H
#define MLGO_LLVM_DECISIONS_EVICTIONDECISIONS_H

#include <cstddef>
#include <memory>
#include <string>

#include "DecisionFile.h"
#include "EvictionAnswers.h"

namespace mlgo {

class EvictionDecisions final : public EvictionAnswers {
public:
  /// Null if no option of ours concerns `M`. Ends the program with one error if
  /// the file is not what it should be.
  static std::unique_ptr<EvictionDecisions> of(llvm::Module &M);

  void beginFunction(const llvm::MachineFunction &MF,
                     const llvm::MachineBlockFrequencyInfo &) override;
  llvm::MCRegister answer(const EvictionQuestion &Question,
                          const Alternatives &By) override;
  /// Reports the coverage as a remark, and writes what was decided.
  void endModule() override;

private:
  EvictionDecisions(llvm::Module &M, EvictionSection Section,
                    std::shared_ptr<const DecisionFile> File)
      : M(M), File(std::move(File)), Section(std::move(Section)) {}

  llvm::Module &M;
  /// Null if the compile only writes what it decides.
  const std::shared_ptr<const DecisionFile> File;
  EvictionSection Section;
  const llvm::TargetRegisterInfo *Registers = nullptr;
  size_t Applied = 0;
  size_t Unnamed = 0;
  /// Lines of the file that is written.
  std::string Taken;
};

/// The register of `Question` that a decision names, if it is a candidate.
std::optional<llvm::MCRegister>
registerNamed(llvm::StringRef Name, const EvictionQuestion &Question,
              const llvm::TargetRegisterInfo &Registers);

} // namespace mlgo

#endif // MLGO_LLVM_DECISIONS_EVICTIONDECISIONS_H
