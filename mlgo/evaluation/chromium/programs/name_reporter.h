// A reporter for Google Benchmark that prints what is the same however fast the code is.
#ifndef MLGO_EVALUATION_CHROMIUM_PROGRAMS_NAME_REPORTER_H_
#define MLGO_EVALUATION_CHROMIUM_PROGRAMS_NAME_REPORTER_H_

#include <cstdio>
#include <vector>

#include "benchmark/benchmark.h"

// Prints names of benchmarks and how often each ran.
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

#endif  // MLGO_EVALUATION_CHROMIUM_PROGRAMS_NAME_REPORTER_H_
