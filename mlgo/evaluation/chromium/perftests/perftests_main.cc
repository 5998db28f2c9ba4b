// Runs tests, and then the benchmarks that --benchmark_filter names, and prints their names. Output of the tests themselves has times, and is
// dropped. Files that tests look for in the tree of sources are those below the current folder.
#include <sys/syscall.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>

#include "base/files/file_path.h"
#include "base/test/perf_log.h"
#include "benchmark/benchmark.h"
#include "name_reporter.h"
#include "testing/gtest/include/gtest/gtest.h"

namespace {

class TestNames : public testing::EmptyTestEventListener {
 public:
  explicit TestNames(FILE* output) : output_(output) {}

  void OnTestPartResult(const testing::TestPartResult& result) override {
    if (result.failed()) std::fprintf(stderr, "%s\n", result.message());
  }

  void OnTestEnd(const testing::TestInfo& test) override {
    std::fprintf(output_, "%s.%s: %s\n", test.test_suite_name(), test.name(),
                 test.result()->Passed() ? "passed" : "FAILED");
  }

 private:
  FILE* const output_;
};

int CloseBySystemCall(int descriptor) { return static_cast<int>(syscall(SYS_close, descriptor)); }

}  // namespace

// //base replaces close() and asks dlsym for the one of the C library, which a statically linked program does not get.
extern "C" void* dlsym(void*, const char* name) {
  return std::strcmp(name, "close") == 0 ? reinterpret_cast<void*>(&CloseBySystemCall) : nullptr;
}

int main(int argc, char** argv) {
  testing::InitGoogleTest(&argc, argv);
  benchmark::Initialize(&argc, argv);
  setenv("CR_SOURCE_ROOT", std::filesystem::current_path().c_str(), 1);
  FILE* const output = stdout;
  FILE* const nowhere = std::fopen("/dev/null", "w");
  if (nowhere == nullptr || !base::InitPerfLog(base::FilePath("/dev/null"))) {
    std::perror("/dev/null");
    return 1;
  }
  testing::TestEventListeners& listeners = testing::UnitTest::GetInstance()->listeners();
  delete listeners.Release(listeners.default_result_printer());
  listeners.Append(new TestNames(output));
  stdout = nowhere;
  const int tests = RUN_ALL_TESTS();
  stdout = output;
  NameReporter reporter;
  if (!benchmark::GetBenchmarkFilter().empty()) benchmark::RunSpecifiedBenchmarks(&reporter);
  return tests != 0 || reporter.failed() ? 1 : 0;
}
