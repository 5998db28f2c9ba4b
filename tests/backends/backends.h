// The ways of evaluating a policy, behind one interface: TensorFlow Lite, and the classes that TensorFlow's ahead-of-time
// compiler and mlgo/policy/cpp generate.
#ifndef MLGO_TESTS_BACKENDS_BACKENDS_H
#define MLGO_TESTS_BACKENDS_BACKENDS_H

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <string>
#include <vector>

#include "tensorflow/lite/interpreter.h"
#include "tensorflow/lite/kernels/register.h"
#include "tensorflow/lite/model.h"

namespace mlgo {

// One policy in one form. Inputs keep what was written to them from one evaluation to the next.
class Backend {
public:
  explicit Backend(std::string Name) : Name(std::move(Name)) {}
  virtual ~Backend() = default;
  // Where the values of a feature are written to, row-major; null when the policy does not look at it.
  virtual void *input(const std::string &Feature) = 0;
  virtual void evaluate() = 0;
  // The decision: an int64_t or a float.
  virtual const void *decision() const = 0;

  const std::string Name;
};

// Ends the program with a sentence.
[[noreturn]] inline void fail(const std::string &Message) {
  std::fprintf(stderr, "%s\n", Message.c_str());
  std::exit(2);
}

// A feature as the TensorFlow Lite model declares it.
struct Feature {
  std::string Name;
  bool IsFloat; // Else int64_t.
  int Count;
};

class TfliteBackend final : public Backend {
public:
  explicit TfliteBackend(const std::string &Path) : Backend("TFLite"), Model(tflite::FlatBufferModel::BuildFromFile(Path.c_str())) {
    if (!Model || tflite::InterpreterBuilder(*Model, Resolver)(&Interpreter) != kTfLiteOk)
      fail(Path + ": not a TensorFlow Lite model that this runtime can load");
    // As LLVM does, so that inputs outlive an evaluation.
    for (size_t I = 0; I < Interpreter->inputs().size(); ++I)
      Interpreter->tensor(I)->allocation_type = kTfLiteArenaRwPersistent;
    if (Interpreter->AllocateTensors() != kTfLiteOk)
      fail(Path + ": its tensors cannot be allocated");
    for (size_t I = 0; I < Interpreter->inputs().size(); ++I) {
      const TfLiteTensor &Tensor = *Interpreter->tensor(I);
      const std::string Full = Interpreter->GetInputName(I);
      const bool IsFloat = Tensor.type == kTfLiteFloat32;
      const std::string Prefix = "action_";
      Features.push_back({Full.substr(Prefix.size(), Full.find(':') - Prefix.size()), IsFloat,
                          static_cast<int>(Tensor.bytes / (IsFloat ? sizeof(float) : sizeof(int64_t)))});
    }
    const std::string Output = Interpreter->GetOutputName(0);
    Decision = Output.substr(0, Output.find(':'));
    DecisionIsFloat = Interpreter->output_tensor(0)->type == kTfLiteFloat32;
  }

  void *input(const std::string &Feature) override {
    for (size_t I = 0; I < Features.size(); ++I)
      if (Features[I].Name == Feature)
        return Interpreter->tensor(I)->data.raw;
    return nullptr;
  }
  void evaluate() override {
    if (Interpreter->Invoke() != kTfLiteOk)
      fail("TensorFlow Lite could not evaluate the policy");
  }
  const void *decision() const override { return Interpreter->output_tensor(0)->data.raw; }

  std::vector<Feature> Features;
  std::string Decision;
  bool DecisionIsFloat;

private:
  std::unique_ptr<tflite::FlatBufferModel> Model;
  tflite::ops::builtin::BuiltinOpResolver Resolver;
  std::unique_ptr<tflite::Interpreter> Interpreter;
};

template <class Generated> class CompiledBackend final : public Backend {
public:
  CompiledBackend(std::string Name, const std::string &Decision)
      : Backend(std::move(Name)), Result(Policy.LookupResultIndex(("fetch_" + Decision).c_str())) {
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
  const void *decision() const override { return const_cast<Generated &>(Policy).result_data(Result); }

private:
  Generated Policy;
  int Result;
};

} // namespace mlgo

#endif // MLGO_TESTS_BACKENDS_BACKENDS_H
