// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

/// \file
/// A policy evaluated by TensorFlow Lite, and what its model says about its
/// tensors.

#ifndef MLGO_TESTS_BACKENDS_TFLITE_BACKEND_H
#define MLGO_TESTS_BACKENDS_TFLITE_BACKEND_H

#include <memory>
#include <string>
#include <vector>

#include "tests/backends/backend.h"

namespace mlgo {

/// A feature as the model declares it.
struct Feature {
  std::string Name;
  bool IsFloat; ///< Else int64_t.
  int Count;
};

class TfliteBackend final : public Backend {
public:
  /// Ends the program when `Path` is not a model that this runtime can load.
  explicit TfliteBackend(const std::string &Path);
  ~TfliteBackend() override;

  void *input(const std::string &Feature) override;
  void evaluate() override;
  const void *decision() const override;

  std::vector<Feature> Features;
  std::string Decision;
  bool DecisionIsFloat;

private:
  struct Runtime;
  std::unique_ptr<Runtime> Run;
};

} // namespace mlgo

#endif // MLGO_TESTS_BACKENDS_TFLITE_BACKEND_H
