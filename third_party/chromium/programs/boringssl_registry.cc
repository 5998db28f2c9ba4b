// In place of the main of BoringSSL's benchmarks: each is registered at once, for one thread and one size of input.
#include <cstdint>

#include "internal.h"

namespace bssl::bench {
namespace {
constexpr int64_t kInputSizes[] = {1024};
}

int RegisterBenchmark(void (*handle)()) {
  handle();
  return 0;
}

void SetThreads(benchmark::Benchmark*) {}

Span<const int64_t> GetInputSizes(benchmark::Benchmark*) { return kInputSizes; }

}  // namespace bssl::bench
