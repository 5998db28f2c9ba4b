// The policy decides the same through TensorFlow Lite and compiled ahead of time, on 100,000 observations made to be hard:
// equal candidates, values on the borders of the normaliser's segments, zeros, NaN and infinities as LLVM produces them.
//
//   agreement_test MODEL.tflite
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <limits>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include "RegAllocEvictModel.h"
#include "tensorflow/lite/interpreter.h"
#include "tensorflow/lite/kernels/register.h"
#include "tensorflow/lite/model.h"

namespace {

constexpr int kObservations = 100000;
constexpr int kPositions = 33;

struct Input {
  std::string Feature;
  TfLiteTensor *Interpreted;
  void *Compiled; // Null: the compiled policy does not look at it.
};

// A value of a float feature: usually in [0, 1], often one that others have too.
float someValue(std::mt19937_64 &Random) {
  switch (Random() % 8) {
  case 0:
    return 0.0f;
  case 1:
    return 1.0f;
  case 2:
    return static_cast<float>(Random() % 65) / 64.0f;
  case 3:
    return std::nextafter(static_cast<float>(Random() % 101) / 100.0f, Random() % 2 ? 2.0f : -1.0f);
  default:
    return std::generate_canonical<float, 24>(Random);
  }
}

void fill(const std::vector<Input> &Inputs, std::mt19937_64 &Random) {
  // Now and then a candidate is the copy of another one.
  int CopyOf[kPositions];
  for (int I = 0; I < kPositions; ++I)
    CopyOf[I] = I > 0 && Random() % 4 == 0 ? static_cast<int>(Random() % I) : I;
  const int Legal = static_cast<int>(Random() % kPositions);
  for (const Input &In : Inputs) {
    if (In.Interpreted->type == kTfLiteInt64) {
      int64_t *Values = In.Interpreted->data.i64;
      for (int I = 0; I < kPositions; ++I) {
        const int64_t Drawn = static_cast<int64_t>(Random() % 8);
        if (In.Feature == "mask")
          Values[I] = I == Legal || Drawn < 3;
        else
          Values[I] = CopyOf[I] == I ? Drawn : Values[CopyOf[I]];
      }
    } else {
      const int Count = static_cast<int>(In.Interpreted->bytes / sizeof(float));
      float *Values = In.Interpreted->data.f;
      for (int I = 0; I < Count; ++I)
        Values[I] = Count > 1 && CopyOf[I] != I ? Values[CopyOf[I]] : someValue(Random);
      // inf / inf, when the heaviest live range cannot be spilled.
      if (In.Feature == "use_def_density" && Random() % 8 == 0)
        Values[Random() % kPositions] = std::numeric_limits<float>::quiet_NaN();
      if (Random() % 512 == 0)
        Values[Random() % Count] = std::numeric_limits<float>::infinity();
    }
    if (In.Compiled)
      std::memcpy(In.Compiled, In.Interpreted->data.raw, In.Interpreted->bytes);
  }
}

} // namespace

int main(int argc, char **argv) {
  if (argc != 2) {
    std::fprintf(stderr, "usage: agreement_test MODEL.tflite\n");
    return 2;
  }
  auto Model = tflite::FlatBufferModel::BuildFromFile(argv[1]);
  if (!Model) {
    std::fprintf(stderr, "%s: not a TensorFlow Lite model\n", argv[1]);
    return 2;
  }
  tflite::ops::builtin::BuiltinOpResolver Resolver;
  std::unique_ptr<tflite::Interpreter> Interpreter;
  if (tflite::InterpreterBuilder(*Model, Resolver)(&Interpreter) != kTfLiteOk)
    return 2;
  // As LLVM does, so that inputs outlive an evaluation.
  for (size_t I = 0; I < Interpreter->inputs().size(); ++I)
    Interpreter->tensor(I)->allocation_type = kTfLiteArenaRwPersistent;
  if (Interpreter->AllocateTensors() != kTfLiteOk)
    return 2;

  llvm::RegAllocEvictModel Compiled;
  std::vector<Input> Inputs;
  int Shared = 0;
  for (size_t I = 0; I < Interpreter->inputs().size(); ++I) {
    std::string Name = Interpreter->GetInputName(I);
    std::string Feature = Name.substr(std::strlen("action_"), Name.find(':') - std::strlen("action_"));
    const int Index = Compiled.LookupArgIndex("feed_" + Feature);
    Shared += Index >= 0;
    Inputs.push_back({Feature, Interpreter->tensor(I), Index < 0 ? nullptr : Compiled.arg_data(Index)});
  }
  if (Shared < 2) {
    std::fprintf(stderr, "%d inputs in common: the two policies are not the same one\n", Shared);
    return 1;
  }
  const int Result = Compiled.LookupResultIndex("fetch_index_to_evict");

  std::mt19937_64 Random(20261120);
  int Disagreements = 0;
  std::vector<int> Chosen(kPositions);
  for (int Observation = 0; Observation < kObservations; ++Observation) {
    fill(Inputs, Random);
    if (Interpreter->Invoke() != kTfLiteOk)
      return 2;
    Compiled.Run();
    const int64_t A = Interpreter->output_tensor(0)->data.i64[0];
    const int64_t B = *static_cast<int64_t *>(Compiled.result_data(Result));
    for (const Input &In : Inputs)
      if (In.Feature == "mask" && (A < 0 || A >= kPositions || !In.Interpreted->data.i64[A])) {
        std::fprintf(stderr, "observation %d: %lld is not a legal position\n", Observation, static_cast<long long>(A));
        return 1;
      }
    ++Chosen[A];
    if (A != B && ++Disagreements <= 5)
      std::fprintf(stderr, "observation %d: interpreted %lld, compiled %lld\n", Observation, static_cast<long long>(A),
                   static_cast<long long>(B));
  }
  int Different = 0;
  for (int Count : Chosen)
    Different += Count > 0;
  std::printf("%d observations, %d positions chosen, %d disagreements\n", kObservations, Different, Disagreements);
  return Disagreements || Different < 2;
}
