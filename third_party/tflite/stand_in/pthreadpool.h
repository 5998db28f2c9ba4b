// Stand-in for the pthreadpool library. Only kernels of XNNPACK, which is left
// out, run on such a pool; TFLite's CPU context merely names the type.

#ifndef MLGO_TFLITE_STAND_IN_PTHREADPOOL_H_
#define MLGO_TFLITE_STAND_IN_PTHREADPOOL_H_

#include <cstddef>

struct pthreadpool;
using pthreadpool_t = pthreadpool *;

inline pthreadpool_t pthreadpool_create(std::size_t) { return nullptr; }
inline void pthreadpool_destroy(pthreadpool_t) {}

#endif  // MLGO_TFLITE_STAND_IN_PTHREADPOOL_H_
