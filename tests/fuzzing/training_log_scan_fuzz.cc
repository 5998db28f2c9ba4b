// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

/// \file
/// Fuzzing target of mlgo/compiler/training_log_reader.cc: any bytes are
/// scanned without a memory error, and a scan from memory equals one from a
/// file.
///
/// The first byte of the input chooses the layout, the rest is the log's body.

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <vector>

#include "mlgo/compiler/training_log_reader.cc"

namespace {

/// Offset of the body in a made-up log; offsets of errors count from there.
constexpr int64_t kBodyOffset = 100;
constexpr int64_t kShortestObservationLine = 18;

void Require(bool holds, const char *claim) {
  if (holds)
    return;
  fprintf(stderr, "violated: %s\n", claim);
  abort();
}

/// Arrays for the tensors of one scan, of exactly the promised size: a byte too
/// far is found by the address sanitizer.
struct Tensors {
  std::vector<int64_t> bytes;
  std::vector<std::vector<char>> values;
  std::vector<char *> places;
  std::vector<int32_t> contexts;
  MlgoLogLayout layout = {};

  Tensors(uint8_t choice, int64_t body_bytes) {
    bytes = {8 * (1 + choice % 4), 4};
    if (choice & 4)
      bytes.push_back(4 * (1 + (choice >> 6)));
    bytes.push_back(8); // the decision
    int64_t record_bytes = 0;
    for (int64_t count : bytes)
      record_bytes += count;
    const int64_t most =
        body_bytes / (kShortestObservationLine + record_bytes + 1);
    // As for a log that grew since its size was asked for.
    layout.capacity = choice & 8 ? most / 2 : most;
    for (int64_t count : bytes)
      values.emplace_back(count * layout.capacity);
    for (std::vector<char> &value : values)
      places.push_back(value.data());
    contexts.resize(layout.capacity);
    layout.tensor_count = static_cast<int32_t>(bytes.size());
    layout.tensor_bytes = bytes.data();
    layout.destination = places.data();
    layout.observation_context = contexts.data();
    layout.action_tensor = layout.tensor_count - 1;
    layout.action_count = choice & 16 ? 3 : 0;
    layout.has_score = choice & 32 ? 1 : 0;
  }
};

void CheckOne(const MlgoLogScan &scan, const Tensors &tensors,
              int64_t body_bytes) {
  Require(scan.observations <= tensors.layout.capacity,
          "no more observations than there is room for");
  Require(scan.error_offset <= kBodyOffset + body_bytes,
          "an error lies in the log");
  Require(scan.error == 0 || scan.error_offset >= kBodyOffset,
          "an error lies in the body");
  for (int64_t i = 0; i < scan.observations; ++i) {
    const int32_t context = tensors.contexts[i];
    Require(context >= 0 && context < scan.contexts,
            "an observation is one of a context");
  }
  int64_t newlines = 0;
  for (int64_t i = 0; i < scan.context_text_bytes; ++i)
    newlines += scan.context_text[i] == '\n';
  Require(newlines == scan.contexts, "there is a line of text per context");
}

bool SameBytes(const void *left, const void *right, size_t count) {
  return count == 0 || memcmp(left, right, count) == 0;
}

void CheckSame(const MlgoLogScan &left, const MlgoLogScan &right,
               const Tensors &of_left, const Tensors &of_right) {
  Require(left.error == right.error && left.error_offset == right.error_offset,
          "memory and file: same error");
  Require(left.observations == right.observations &&
              left.contexts == right.contexts,
          "memory and file: same counts");
  Require(left.context_text_bytes == right.context_text_bytes &&
              SameBytes(left.context_text, right.context_text,
                        left.context_text_bytes),
          "memory and file: same contexts");
  Require(SameBytes(left.outcome, right.outcome, left.contexts * sizeof(float)),
          "memory and file: same outcomes");
  for (size_t i = 0; i < of_left.values.size(); ++i)
    Require(SameBytes(of_left.places[i], of_right.places[i],
                      left.observations * of_left.bytes[i]),
            "memory and file: same tensors");
}

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  if (size == 0)
    return 0;
  const uint8_t choice = data[0];
  // A copy of its own, so that a read behind its end is found.
  const std::vector<char> body(data + 1, data + size);
  const int64_t count = static_cast<int64_t>(body.size());

  Tensors from_memory(choice, count);
  MlgoLogScan *memory =
      mlgo_log_scan(-1, body.data(), count, kBodyOffset, &from_memory.layout);
  Require(memory != nullptr, "there is memory");
  CheckOne(*memory, from_memory, count);

  static const int file = memfd_create("log", MFD_CLOEXEC);
  Require(file >= 0 && ftruncate(file, 0) == 0 && lseek(file, 0, SEEK_SET) == 0,
          "there is a file");
  Require(write(file, body.data(), body.size()) == count &&
              lseek(file, 0, SEEK_SET) == 0,
          "the file is written");
  Tensors from_file(choice, count);
  MlgoLogScan *read =
      mlgo_log_scan(file, nullptr, 0, kBodyOffset, &from_file.layout);
  Require(read != nullptr, "there is memory");
  CheckSame(*memory, *read, from_memory, from_file);

  mlgo_log_free(memory);
  mlgo_log_free(read);
  return 0;
}
