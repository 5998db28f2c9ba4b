// Stand-in for ruy's scope labels: no profile is taken inside a compiler.

#ifndef MLGO_TFLITE_STAND_IN_RUY_PROFILER_INSTRUMENTATION_H_
#define MLGO_TFLITE_STAND_IN_RUY_PROFILER_INSTRUMENTATION_H_

namespace ruy {
namespace profiler {

class ScopeLabel {
 public:
  template <typename... Args>
  explicit ScopeLabel(const Args &...) {}
  // User-provided, so that a label nothing reads is no unused variable.
  ~ScopeLabel() {}
};

}  // namespace profiler
}  // namespace ruy

#endif  // MLGO_TFLITE_STAND_IN_RUY_PROFILER_INSTRUMENTATION_H_
