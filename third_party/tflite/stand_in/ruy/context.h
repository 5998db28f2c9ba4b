// Stand-in for ruy's context, which owns threads and packed copies of weights.
// ruy.h of this folder multiplies on the caller's thread and keeps no copies.

#ifndef MLGO_TFLITE_STAND_IN_RUY_CONTEXT_H_
#define MLGO_TFLITE_STAND_IN_RUY_CONTEXT_H_

namespace ruy {

class Context {
 public:
  // Accepted and ignored: the summation order may not depend on a thread count.
  void set_max_num_threads(int) {}
  void ClearPrepackedCache() {}
};

}  // namespace ruy

#endif  // MLGO_TFLITE_STAND_IN_RUY_CONTEXT_H_
