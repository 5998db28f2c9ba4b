// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

/// \file
/// The target of the code for which policies are being chosen.

#ifndef MLGO_LLVM_EMBEDDED_POLICYTARGET_H
#define MLGO_LLVM_EMBEDDED_POLICYTARGET_H

#include <string>

namespace llvm {
class Triple;
} // namespace llvm

namespace mlgo {

/// While an instance lives, the policies that its thread creates are those for
/// this target (chosenPolicy in EmbeddedModel.h). LLVM's advisors create a
/// policy without saying for which code, and the back ends of ThinLTO may
/// compile for several targets at once.
class PolicyTarget {
public:
  explicit PolicyTarget(const llvm::Triple &Target);
  PolicyTarget(const PolicyTarget &) = delete;
  PolicyTarget &operator=(const PolicyTarget &) = delete;
  ~PolicyTarget();

private:
  const std::string Before;
};

/// The architecture under which a compiler's policies name a target: "arm" for
/// Arm and Thumb, "aarch64", otherwise LLVM's name, such as "riscv64" or
/// "x86_64" (release/private/architectures.bzl).
std::string architectureOf(const llvm::Triple &Target);

} // namespace mlgo

#endif // MLGO_LLVM_EMBEDDED_POLICYTARGET_H
