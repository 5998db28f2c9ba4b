// Stand-in for ruy's switch to flush-to-zero arithmetic.

#ifndef MLGO_TFLITE_STAND_IN_RUY_DENORMAL_H_
#define MLGO_TFLITE_STAND_IN_RUY_DENORMAL_H_

namespace ruy {

// TFLite creates one around each Interpreter::Invoke. The policy compiled into
// the release clang runs with denormals, so this one must do so too.
class ScopedSuppressDenormals {
 public:
  ScopedSuppressDenormals() {}
  ~ScopedSuppressDenormals() {}
};

}  // namespace ruy

#endif  // MLGO_TFLITE_STAND_IN_RUY_DENORMAL_H_
