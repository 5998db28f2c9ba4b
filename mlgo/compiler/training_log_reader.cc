// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

/// \file
/// Scans the body of an LLVM training log into preallocated arrays, one per
/// tensor.
///
/// The format and its rules are those of training_log_reference.py, which tests
/// hold this file to, error codes and offsets included. The header line is read
/// in Python. Bytes come from a descriptor in pieces that stay in the
/// processor's cache, so that memory is written once and read never; a mapped
/// file would also turn a truncation into a SIGBUS.
///
/// Uses no C++ runtime library: the host's and TensorFlow's must not meet a
/// third one in the same process.

#include <errno.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

namespace {

/// Longest context line accepted; C++ symbol names of several 10 KB exist.
constexpr size_t kMaxLineBytes = 1 << 20;
/// Half of a 1 MB second-level cache; larger pieces were slower.
constexpr size_t kReadBytes = 256 << 10;

/// Kept in step with ScanError in training_log_scan.py.
enum Error : int32_t {
  kNone = 0,
  kTruncatedLine = 1,
  kLineTooLong = 2,
  kUnknownLine = 3,
  kTruncatedTensors = 4,
  kMissingNewline = 5,
  kObservationOrder = 6,
  kOutcomeOrder = 7,
  kNoContextYet = 8,
  kScoreNotDeclared = 9,
  kActionOutOfRange = 10,
  kCannotRead = 11,
  kTooManyObservations = 12,
  kNoMemory = 13,
};

/// A growing array without exceptions.
template <typename T> struct Array {
  T *items = nullptr;
  size_t size = 0;
  size_t capacity = 0;

  bool Append(const T *first, size_t count) {
    if (size + count > capacity) {
      size_t wanted = (size + count) * 2 + 64;
      T *grown = static_cast<T *>(realloc(items, wanted * sizeof(T)));
      if (!grown)
        return false;
      items = grown;
      capacity = wanted;
    }
    memcpy(items + size, first, count * sizeof(T));
    size += count;
    return true;
  }
};

/// A window on the log: [begin, end) of `bytes` is what has been read and not
/// yet consumed.
struct Input {
  int descriptor = -1;
  const char *bytes = nullptr;
  char *owned = nullptr;
  size_t owned_capacity = 0;
  size_t begin = 0;
  size_t end = 0;
  int64_t offset = 0; ///< of bytes[begin] in the log
  bool exhausted = false;
  int system_error = 0; ///< errno of the call that failed

  size_t Available() const { return end - begin; }
  const char *Here() const { return bytes + begin; }
  void Consume(size_t count) {
    begin += count;
    offset += static_cast<int64_t>(count);
  }

  bool Fail() {
    system_error = errno ? errno : EIO;
    return false;
  }

  /// Makes `count` bytes available unless the log ends before them or cannot be
  /// read.
  bool Ensure(size_t count) {
    if (Available() >= count)
      return true;
    if (exhausted || system_error)
      return false;
    if (begin + count > owned_capacity ||
        begin + kReadBytes / 4 > owned_capacity) {
      size_t kept = Available();
      if (count > owned_capacity) {
        size_t wanted = count + kReadBytes;
        char *grown = static_cast<char *>(malloc(wanted));
        if (!grown)
          return Fail();
        if (kept)
          memcpy(grown, owned + begin, kept);
        free(owned);
        owned = grown;
        owned_capacity = wanted;
      } else {
        memmove(owned, owned + begin, kept);
      }
      begin = 0;
      end = kept;
      bytes = owned;
    }
    while (Available() < count) {
      ssize_t got = read(descriptor, owned + end, owned_capacity - end);
      if (got < 0 && errno == EINTR)
        continue;
      if (got < 0)
        return Fail();
      if (got == 0) {
        exhausted = true;
        return false;
      }
      end += static_cast<size_t>(got);
    }
    return true;
  }
};

/// The digits of `{"key":123}`; false when the line is anything else.
bool ParseNumber(const char *line, size_t length, const char *prefix,
                 size_t prefix_length, int64_t *value) {
  if (length < prefix_length + 2 || length > prefix_length + 19)
    return false;
  if (memcmp(line, prefix, prefix_length) != 0 || line[length - 1] != '}')
    return false;
  int64_t number = 0;
  for (size_t i = prefix_length; i < length - 1; ++i) {
    if (line[i] < '0' || line[i] > '9')
      return false;
    number = number * 10 + (line[i] - '0');
  }
  *value = number;
  return true;
}

constexpr char kContextPrefix[] = "{\"context\":";
constexpr char kObservationPrefix[] = "{\"observation\":";
constexpr char kOutcomePrefix[] = "{\"outcome\":";

} // namespace

extern "C" {

// What a scan found beside the tensors; owned by the caller until
// mlgo_log_free.
struct MlgoLogScan {
  int32_t error;
  int32_t system_error; // errno when error is kCannotRead
  int64_t error_offset; // byte offset in the log
  int64_t observations;
  int64_t contexts;
  int64_t context_text_bytes;
  const char *context_text; // the context lines, each with its newline
  const int64_t
      *context_offset;  // [contexts] byte offset of each line in the log
  const float *outcome; // [contexts] last outcome; NaN when none
};

struct MlgoLogLayout {
  int32_t tensor_count;
  const int64_t *tensor_bytes;  // [tensor_count] bytes of one value
  char *const *destination;     // [tensor_count] arrays of `capacity` values
  int32_t *observation_context; // [capacity]
  int64_t capacity;
  int32_t action_tensor; // index of the decision among the tensors
  int64_t action_count; // int64 decisions must lie in [0, action_count); 0: not
                        // checked
  int32_t has_score;    // whether the header declares a float32 [1] score
};

void mlgo_log_free(MlgoLogScan *scan) {
  if (!scan)
    return;
  free(const_cast<char *>(scan->context_text));
  free(const_cast<int64_t *>(scan->context_offset));
  free(const_cast<float *>(scan->outcome));
  free(scan);
}

// Scans from `descriptor` (>= 0, positioned at `offset`) or from `data` (size
// bytes, the first at `offset`). Returns null only when there is no memory.
MlgoLogScan *mlgo_log_scan(int descriptor, const char *data, int64_t size,
                           int64_t offset, const MlgoLogLayout *layout) {
  MlgoLogScan *scan =
      static_cast<MlgoLogScan *>(calloc(1, sizeof(MlgoLogScan)));
  if (!scan)
    return nullptr;

  Input input;
  input.offset = offset;
  if (descriptor >= 0) {
    input.descriptor = descriptor;
    input.owned = static_cast<char *>(malloc(kReadBytes));
    input.owned_capacity = input.owned ? kReadBytes : 0;
    input.bytes = input.owned;
  } else {
    input.bytes = data;
    input.end = static_cast<size_t>(size);
    input.exhausted = true;
  }

  size_t record_bytes = 0;
  for (int32_t i = 0; i < layout->tensor_count; ++i)
    record_bytes += static_cast<size_t>(layout->tensor_bytes[i]);

  Array<char> text;
  Array<int64_t> context_offsets;
  Array<float> outcomes;
  size_t last_context = 0; // where the current context's line starts in `text`
  int64_t next_observation =
      -1; // -1: the context has none yet, its first number is free
  int64_t observations = 0;
  const float no_outcome = __builtin_nanf("");

  Error error = kNone;
  int64_t error_offset = 0;
  while (true) {
    const int64_t line_offset = input.offset;
    size_t length = 0;
    const char *newline = nullptr;
    while (true) {
      size_t seen = input.Available();
      if (seen > length) {
        newline = static_cast<const char *>(
            memchr(input.Here() + length, '\n', seen - length));
        if (newline)
          break;
        length = seen;
      }
      if (length > kMaxLineBytes || !input.Ensure(seen + 1))
        break;
    }
    if (newline)
      length = static_cast<size_t>(newline - input.Here());
    if (length > kMaxLineBytes) {
      error = kLineTooLong;
    } else if (!newline) {
      if (input.system_error)
        error = kCannotRead;
      else if (length == 0)
        break; // the end, between two entries
      else
        error = kTruncatedLine;
    }
    if (error) {
      error_offset = line_offset;
      break;
    }

    const char *line = input.Here();
    int64_t number = 0;
    if (ParseNumber(line, length, kObservationPrefix,
                    sizeof(kObservationPrefix) - 1, &number)) {
      if (context_offsets.size == 0)
        error = kNoContextYet;
      else if (next_observation >= 0 && number != next_observation)
        error = kObservationOrder;
      if (error) {
        error_offset = line_offset;
        break;
      }
      input.Consume(length + 1);
      if (!input.Ensure(record_bytes + 1)) {
        error = input.system_error                  ? kCannotRead
                : input.Available() == record_bytes ? kMissingNewline
                                                    : kTruncatedTensors;
        error_offset = error == kMissingNewline
                           ? input.offset + static_cast<int64_t>(record_bytes)
                           : input.offset;
        break;
      }
      const char *value = input.Here();
      if (value[record_bytes] != '\n') {
        error = kMissingNewline;
        error_offset = input.offset + static_cast<int64_t>(record_bytes);
        break;
      }
      if (observations >= layout->capacity) {
        error = kTooManyObservations;
        error_offset = line_offset;
        break;
      }
      for (int32_t i = 0; i < layout->tensor_count; ++i) {
        const size_t bytes = static_cast<size_t>(layout->tensor_bytes[i]);
        if (i == layout->action_tensor && layout->action_count > 0) {
          int64_t action;
          memcpy(&action, value, sizeof(action));
          if (action < 0 || action >= layout->action_count) {
            error = kActionOutOfRange;
            error_offset = input.offset + (value - input.Here());
            break;
          }
        }
        memcpy(layout->destination[i] +
                   static_cast<size_t>(observations) * bytes,
               value, bytes);
        value += bytes;
      }
      if (error)
        break;
      layout->observation_context[observations] =
          static_cast<int32_t>(context_offsets.size - 1);
      ++observations;
      next_observation = number + 1;
      input.Consume(record_bytes + 1);
    } else if (ParseNumber(line, length, kOutcomePrefix,
                           sizeof(kOutcomePrefix) - 1, &number)) {
      if (context_offsets.size == 0)
        error = kNoContextYet;
      else if (!layout->has_score)
        error = kScoreNotDeclared;
      else if (next_observation >= 0 && number != next_observation - 1)
        error = kOutcomeOrder;
      if (error) {
        error_offset = line_offset;
        break;
      }
      input.Consume(length + 1);
      if (!input.Ensure(sizeof(float) + 1)) {
        error = input.system_error                   ? kCannotRead
                : input.Available() == sizeof(float) ? kMissingNewline
                                                     : kTruncatedTensors;
        error_offset =
            error == kMissingNewline ? input.offset + 4 : input.offset;
        break;
      }
      if (input.Here()[sizeof(float)] != '\n') {
        error = kMissingNewline;
        error_offset = input.offset + 4;
        break;
      }
      memcpy(&outcomes.items[outcomes.size - 1], input.Here(), sizeof(float));
      input.Consume(sizeof(float) + 1);
    } else if (length >= sizeof(kContextPrefix) - 1 &&
               memcmp(line, kContextPrefix, sizeof(kContextPrefix) - 1) == 0) {
      // The same function opened again right away stays the same context.
      const bool repeated =
          context_offsets.size > 0 && text.size - last_context == length + 1 &&
          memcmp(text.items + last_context, line, length) == 0;
      if (!repeated) {
        last_context = text.size;
        if (!text.Append(line, length + 1) ||
            !context_offsets.Append(&line_offset, 1) ||
            !outcomes.Append(&no_outcome, 1)) {
          error = kNoMemory;
          error_offset = line_offset;
          break;
        }
        next_observation = -1;
      }
      input.Consume(length + 1);
    } else {
      error = kUnknownLine;
      error_offset = line_offset;
      break;
    }
  }

  scan->error = error;
  scan->system_error = input.system_error;
  scan->error_offset = error_offset;
  scan->observations = observations;
  scan->contexts = static_cast<int64_t>(context_offsets.size);
  scan->context_text_bytes = static_cast<int64_t>(text.size);
  scan->context_text = text.items;
  scan->context_offset = context_offsets.items;
  scan->outcome = outcomes.items;
  free(input.owned);
  return scan;
}

} // extern "C"
