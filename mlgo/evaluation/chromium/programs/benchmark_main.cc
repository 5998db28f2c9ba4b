// Runs the benchmarks of Google Benchmark that a program has.
#include "benchmark/benchmark.h"
#include "name_reporter.h"

int main(int argc, char** argv) {
  benchmark::Initialize(&argc, argv);
  NameReporter reporter;
  return benchmark::RunSpecifiedBenchmarks(&reporter) > 0 && !reporter.failed() ? 0 : 1;
}
