// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "tests/backends/tflite_backend.h"

#include <cstdio>
#include <cstdlib>

#include "tensorflow/lite/interpreter.h"
#include "tensorflow/lite/kernels/register.h"
#include "tensorflow/lite/model.h"

namespace mlgo {
namespace {

const std::string kInputPrefix = "action_";

std::string withoutPort(const std::string &Tensor) {
  return Tensor.substr(0, Tensor.find(':'));
}

} // namespace

void fail(const std::string &Message) {
  std::fprintf(stderr, "%s\n", Message.c_str());
  std::exit(2);
}

struct TfliteBackend::Runtime {
  std::unique_ptr<tflite::FlatBufferModel> Model;
  tflite::ops::builtin::BuiltinOpResolver Resolver;
  std::unique_ptr<tflite::Interpreter> Interpreter;
};

TfliteBackend::TfliteBackend(const std::string &Path)
    : Backend("TFLite"), Run(new Runtime) {
  Run->Model = tflite::FlatBufferModel::BuildFromFile(Path.c_str());
  if (!Run->Model || tflite::InterpreterBuilder(*Run->Model, Run->Resolver)(
                         &Run->Interpreter) != kTfLiteOk)
    fail(Path + ": not a TensorFlow Lite model that this runtime can load");
  tflite::Interpreter &Interpreter = *Run->Interpreter;
  // As LLVM does, so that inputs outlive an evaluation.
  for (size_t I = 0; I < Interpreter.inputs().size(); ++I)
    Interpreter.tensor(I)->allocation_type = kTfLiteArenaRwPersistent;
  if (Interpreter.AllocateTensors() != kTfLiteOk)
    fail(Path + ": its tensors cannot be allocated");
  for (size_t I = 0; I < Interpreter.inputs().size(); ++I) {
    const TfLiteTensor &Tensor = *Interpreter.tensor(I);
    const bool IsFloat = Tensor.type == kTfLiteFloat32;
    const std::string Name = withoutPort(Interpreter.GetInputName(I));
    const int Count = static_cast<int>(
        Tensor.bytes / (IsFloat ? sizeof(float) : sizeof(int64_t)));
    Features.push_back({Name.substr(kInputPrefix.size()), IsFloat, Count});
  }
  Decision = withoutPort(Interpreter.GetOutputName(0));
  DecisionIsFloat = Interpreter.output_tensor(0)->type == kTfLiteFloat32;
}

TfliteBackend::~TfliteBackend() = default;

void *TfliteBackend::input(const std::string &Feature) {
  for (size_t I = 0; I < Features.size(); ++I)
    if (Features[I].Name == Feature)
      return Run->Interpreter->tensor(I)->data.raw;
  return nullptr;
}

void TfliteBackend::evaluate() {
  if (Run->Interpreter->Invoke() != kTfLiteOk)
    fail("TensorFlow Lite could not evaluate the policy");
}

const void *TfliteBackend::decision() const {
  return Run->Interpreter->output_tensor(0)->data.raw;
}

} // namespace mlgo
