// Runs Google Benchmark's benchmarks and prints their names and how often each ran: what is printed is the same however fast the code is.
#include <cstdio>
#include <vector>

#include "benchmark/benchmark.h"

namespace {

class NameReporter : public benchmark::BenchmarkReporter {
 public:
  bool ReportContext(const Context&) override { return true; }

  void ReportRuns(const std::vector<Run>& runs) override {
    for (const Run& run : runs) {
      std::printf("%s: %lld\n", run.benchmark_name().c_str(), static_cast<long long>(run.iterations));
      if (run.skipped == benchmark::internal::SkippedWithError) {
        std::fprintf(stderr, "%s: %s\n", run.benchmark_name().c_str(), run.skip_message.c_str());
        failed_ = true;
      }
    }
  }

  bool failed() const { return failed_; }

 private:
  bool failed_ = false;
};

}  // namespace

int main(int argc, char** argv) {
  benchmark::Initialize(&argc, argv);
  NameReporter reporter;
  return benchmark::RunSpecifiedBenchmarks(&reporter) > 0 && !reporter.failed() ? 0 : 1;
}
