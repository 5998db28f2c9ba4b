// Runs the models of testdata/ the way LLVM's evaluator runs a policy
// (llvm/lib/Analysis/TFLiteUtils.cpp) and compares the answers.
//
// Usage: tflite_test TESTDATA_DIR [--print_bits]
// --print_bits writes the logits' bits in the form of testdata/policy.bits.

#include <algorithm>
#include <cmath>
#include <cstdarg>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <iterator>
#include <memory>
#include <sstream>
#include <string>
#include <vector>

#include "tensorflow/lite/interpreter.h"
#include "tensorflow/lite/kernels/register.h"
#include "tensorflow/lite/logger.h"
#include "tensorflow/lite/model.h"
#include "tensorflow/lite/stderr_reporter.h"

namespace {

constexpr int kPositions = 33;  // as in testdata/make_models.py
constexpr int kFeatures = 25;
constexpr int kCases = 4;

int failures = 0;

#define EXPECT(condition, ...)                                       \
  do {                                                               \
    if (!(condition)) {                                              \
      ++failures;                                                    \
      std::fprintf(stderr, "%s:%d: %s: ", __FILE__, __LINE__, #condition); \
      std::fprintf(stderr, __VA_ARGS__);                             \
      std::fputc('\n', stderr);                                      \
    }                                                                \
  } while (false)

struct Policy {
  std::unique_ptr<tflite::FlatBufferModel> model;
  std::unique_ptr<tflite::Interpreter> interpreter;

  TfLiteTensor *Input(const std::string &name) const {
    for (int index : interpreter->inputs())
      if (name == TensorName(index)) return interpreter->tensor(index);
    return nullptr;
  }
  // The output of that type, of which each test model has one: the converter
  // does not keep the names of outputs.
  const TfLiteTensor *Output(TfLiteType type) const {
    for (int index : interpreter->outputs())
      if (interpreter->tensor(index)->type == type)
        return interpreter->tensor(index);
    return nullptr;
  }
  // Without the signature prefix and the ":0" the converter adds.
  std::string TensorName(int index) const {
    std::string name = interpreter->tensor(index)->name;
    name = name.substr(name.rfind('_') + 1);
    return name.substr(0, name.find(':'));
  }
};

std::string ReadFile(const std::string &path) {
  std::ifstream file(path, std::ios::binary);
  if (!file) {
    std::fprintf(stderr,
                 "%s: cannot be read; pass the folder third_party/tflite/"
                 "testdata as first argument\n",
                 path.c_str());
    std::exit(2);
  }
  return {std::istreambuf_iterator<char>(file), {}};
}

// Collects what TFLite says about a file it refuses.
class Complaints : public tflite::ErrorReporter {
 public:
  int Report(const char *format, va_list arguments) override {
    char line[512];
    const int length = std::vsnprintf(line, sizeof line, format, arguments);
    text += line;
    text += '\n';
    return length;
  }
  std::string text;
};

// Null with a complaint when the file is no sound model.
std::unique_ptr<Policy> Load(const std::string &path, Complaints *complaints) {
  auto policy = std::make_unique<Policy>();
  policy->model =
      tflite::FlatBufferModel::BuildFromFile(path.c_str(), complaints);
  if (!policy->model) return nullptr;
  tflite::ops::builtin::BuiltinOpResolver resolver;
  tflite::InterpreterBuilder(*policy->model, resolver)(&policy->interpreter);
  if (!policy->interpreter ||
      policy->interpreter->AllocateTensors() != kTfLiteOk)
    return nullptr;
  return policy;
}

std::unique_ptr<Policy> LoadFile(const std::string &path) {
  Complaints complaints;
  auto policy = Load(path, &complaints);
  if (!policy) {
    std::fprintf(stderr, "%s: not loaded: %s\n", path.c_str(),
                 complaints.text.c_str());
    std::exit(1);
  }
  return policy;
}

// The logits of one case; also checks that the choice is their argmax.
std::vector<float> RunPolicy(const Policy &policy, int case_index) {
  TfLiteTensor *features = policy.Input("features");
  TfLiteTensor *mask = policy.Input("mask");
  if (!features || !mask) {
    std::fprintf(stderr, "policy.tflite: inputs features, mask not found\n");
    std::exit(1);
  }
  for (int i = 0; i < kPositions * kFeatures; ++i) {
    std::uint32_t bits = 
          (i + 1000u * case_index) * 2654435761u;
    bits = (bits ^ (bits >> 15)) * 2246822519u;
    features->data.f[i] = static_cast<float>(bits >> 16) / 32768.0f - 1.0f;
  }
  for (int i = 0; i < kPositions; ++i)
    mask->data.i64[i] = (i + case_index) % 3 != 0;
  EXPECT(policy.interpreter->Invoke() == kTfLiteOk, "case %d", case_index);
  const float *logits = policy.Output(kTfLiteFloat32)->data.f;
  int best = 0;
  for (int i = 1; i < kPositions; ++i)
    if (logits[i] > logits[best]) best = i;
  const std::int64_t choice = policy.Output(kTfLiteInt64)->data.i64[0];
  EXPECT(choice == best, "case %d: chose %ld, argmax is %d", case_index,
         static_cast<long>(choice), best);
  return {logits, logits + kPositions};
}

void PolicyMatchesNumpy(const std::string &folder) {
  const auto policy = LoadFile(folder + "/policy.tflite");
  std::istringstream lines(ReadFile(folder + "/policy.expected"));
  std::string line;
  int cases = 0;
  while (std::getline(lines, line)) {
    const std::vector<float> logits = RunPolicy(*policy, cases);
    std::istringstream values(line);
    std::string expected;
    int position = 0;
    for (; position < kPositions && values >> expected; ++position) {
      const float got = logits[position];
      if (expected == "-") {
        EXPECT(got == -1e9f, "case %d position %d: masked, got %g", cases,
               position, got);
        continue;
      }
      // Float32 sums of 80 terms of order 1 are good to about 1e-6.
      EXPECT(std::abs(got - std::stod(expected)) < 5e-6,
             "case %d position %d: got %.9g, numpy says %s", cases, position,
             got, expected.c_str());
    }
    EXPECT(position == kPositions, "case %d has %d values", cases, position);
    ++cases;
  }
  EXPECT(cases == kCases, "policy.expected has %d cases", cases);
}

std::string PolicyBits(const std::string &folder) {
  const auto policy = LoadFile(folder + "/policy.tflite");
  std::string text;
  for (int case_index = 0; case_index < kCases; ++case_index) {
    for (float logit : RunPolicy(*policy, case_index)) {
      std::uint32_t bits;
      std::memcpy(&bits, &logit, sizeof bits);
      char hex[16];
      std::snprintf(hex, sizeof hex, "%08x ", static_cast<unsigned>(bits));
      text += hex;
    }
    text.back() = '\n';
  }
  return text;
}

// The same decision on every x86-64 machine begins with the same last bits.
void PolicyHasTheRecordedBits(const std::string &folder) {
  EXPECT(PolicyBits(folder) == ReadFile(folder + "/policy.bits"),
         "logits differ in their last bits from policy.bits, so decisions may "
         "differ from those of other machines. If TFLite or its flags were "
         "changed on purpose, write policy.bits anew from tflite_test "
         "TESTDATA_DIR --print_bits and retrain policies");
}

void QuantisedMatchesTensorFlow(const std::string &folder) {
  const auto policy = LoadFile(folder + "/quantised.tflite");
  std::istringstream values(ReadFile(folder + "/quantised.expected"));
  TfLiteTensor *input = policy->interpreter->input_tensor(0);
  const TfLiteTensor *output = policy->Output(kTfLiteInt8);
  int value = 0, cases = 0;
  while (values >> value) {
    for (std::size_t i = 0; i < input->bytes; ++i) {
      input->data.int8[i] = static_cast<std::int8_t>(value);
      values >> value;
    }
    EXPECT(policy->interpreter->Invoke() == kTfLiteOk, "case %d", cases);
    for (std::size_t i = 0; i < output->bytes; ++i) {
      EXPECT(output->data.int8[i] == value, "case %d output %zu: %d, not %d",
             cases, i, output->data.int8[i], value);
      if (i + 1 < output->bytes) values >> value;
    }
    ++cases;
  }
  EXPECT(cases == 64, "quantised.expected has %d cases", cases);
}

// The first `draws` tensors a fresh interpreter of random_<seed>.tflite makes.
std::vector<float> Draw(const std::string &folder, int seed, int draws) {
  const auto policy =
      LoadFile(folder + "/random_" + std::to_string(seed) + ".tflite");
  std::vector<float> numbers;
  for (int draw = 0; draw < draws; ++draw) {
    EXPECT(policy->interpreter->Invoke() == kTfLiteOk, "seed %d", seed);
    const TfLiteTensor *output = policy->Output(kTfLiteFloat32);
    const std::size_t count = output->bytes / sizeof(float);
    numbers.insert(numbers.end(), output->data.f, output->data.f + count);
  }
  return numbers;
}

void SeededNoiseIsReproducible(const std::string &folder) {
  const auto first = Draw(folder, 7, 3);
  EXPECT(first.size() == 24, "%zu numbers", first.size());
  EXPECT(first == Draw(folder, 7, 3), "two interpreters, one seed");
  EXPECT(first != Draw(folder, 8, 3), "two seeds, one sequence");
  EXPECT(!std::equal(first.begin(), first.begin() + 8, first.begin() + 8),
         "every Invoke gives the same numbers");
  for (float number : first)
    EXPECT(number >= 0 && number < 1, "%g is not in [0, 1)", number);
  // Without a seed the kernel asks the machine: such a policy is no training
  // data. This is the control which shows that the seed above matters.
  EXPECT(Draw(folder, 0, 3) != Draw(folder, 0, 3), "unseeded, yet equal");
}

// A file with these bytes is refused, and the complaint names it.
void ExpectRefused(const std::string &bytes, const std::string &what) {
  const char *scratch = std::getenv("TEST_TMPDIR");
  const std::string path =
      std::string(scratch ? scratch : ".") + "/broken_policy.tflite";
  std::ofstream(path, std::ios::binary) << bytes;
  Complaints complaints;
  EXPECT(!Load(path, &complaints), "%s was accepted", what.c_str());
  EXPECT(complaints.text.find(path + ": no sound TFLite model") !=
             std::string::npos,
         "%s: the complaint was: %s", what.c_str(), complaints.text.c_str());
  std::remove(path.c_str());
}

// A crash here would be a crash of the compiler: without the patch
// unsound_model_is_refused, cut files end in a bus error.
void BrokenFilesAreRefused(const std::string &folder) {
  const std::string sound = ReadFile(folder + "/policy.tflite");
  for (std::size_t size = 0; size < sound.size(); size += 1 + size / 16)
    ExpectRefused(sound.substr(0, size),
                  "a model cut to " + std::to_string(size) + " bytes");
  std::string garbage = sound;
  for (std::size_t i = 8; i < garbage.size(); ++i)  // keep the identifier
    garbage[i] = static_cast<char>(i * 2654435761u >> 13);
  ExpectRefused(garbage, "garbage");
  Complaints complaints;
  const std::string missing = folder + "/no_such_file.tflite";
  EXPECT(!Load(missing, &complaints), "a missing file was opened");
  EXPECT(complaints.text.find(missing) != std::string::npos,
         "the complaint does not name the file: %s", complaints.text.c_str());
}

}  // namespace

int main(int argc, char **argv) {
  if (argc < 2) {
    std::fprintf(stderr, "usage: %s TESTDATA_DIR [--print_bits]\n", argv[0]);
    return 2;
  }
  tflite::LoggerOptions::SetMinimumLogSeverity(tflite::TFLITE_LOG_WARNING);
  const std::string folder = argv[1];
  if (argc > 2 && std::string(argv[2]) == "--print_bits") {
    std::fputs(PolicyBits(folder).c_str(), stdout);
    return failures ? 1 : 0;
  }
  PolicyMatchesNumpy(folder);
  PolicyHasTheRecordedBits(folder);
  QuantisedMatchesTensorFlow(folder);
  SeededNoiseIsReproducible(folder);
  BrokenFilesAreRefused(folder);
  if (failures) std::fprintf(stderr, "%d checks failed\n", failures);
  return failures ? 1 : 0;
}
