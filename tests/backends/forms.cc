// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

/// \file
/// One policy's compiled forms. AOT_HEADER and CPP_HEADER declare
/// mlgo::AotPolicy and mlgo::CppPolicy.

#include "tests/backends/backend.h"

#include AOT_HEADER
#include CPP_HEADER

namespace mlgo {
namespace {

template <class Generated> class CompiledBackend final : public Backend {
public:
  CompiledBackend(std::string Name, const std::string &Decision)
      : Backend(std::move(Name)),
        Result(Policy.LookupResultIndex(("fetch_" + Decision).c_str())) {
    if (Result < 0)
      fail(this->Name + ": the compiled policy has no output " + Decision);
  }

  void *input(const std::string &Feature) override {
    const int Index = Policy.LookupArgIndex(("feed_" + Feature).c_str());
    return Index < 0 ? nullptr : Policy.arg_data(Index);
  }
  void evaluate() override {
    if (!Policy.Run())
      fail(Name + " could not evaluate the policy");
  }
  const void *decision() const override {
    return const_cast<Generated &>(Policy).result_data(Result);
  }

private:
  Generated Policy;
  int Result;
};

} // namespace

std::unique_ptr<Backend> aotForm(const std::string &Decision) {
  return std::make_unique<CompiledBackend<AotPolicy>>("AOT", Decision);
}

std::unique_ptr<Backend> cppForm(const std::string &Decision) {
  return std::make_unique<CompiledBackend<CppPolicy>>("C++", Decision);
}

} // namespace mlgo
