// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

/// \file
/// Adapts a generated class to EmbeddedPolicy. The classes of all backends
/// (release/backends) have the same interface.

#ifndef MLGO_LLVM_EMBEDDED_COMPILEDPOLICY_H
#define MLGO_LLVM_EMBEDDED_COMPILEDPOLICY_H

#include "EmbeddedModel.h"

namespace mlgo {

template <class Generated> class CompiledPolicy final : public EmbeddedPolicy {
public:
  static std::unique_ptr<EmbeddedPolicy> create() {
    return std::make_unique<CompiledPolicy>();
  }

  int argumentIndex(const std::string &Name) const override {
    return Policy.LookupArgIndex(Name.c_str());
  }
  int resultIndex(const std::string &Name) const override {
    return Policy.LookupResultIndex(Name.c_str());
  }
  void *argument(int Index) override { return Policy.arg_data(Index); }
  void *result(int Index) override { return Policy.result_data(Index); }
  bool evaluate() override { return Policy.Run(); }

private:
  Generated Policy;
};

} // namespace mlgo

#endif // MLGO_LLVM_EMBEDDED_COMPILEDPOLICY_H
