// Stand-in for ruy's matrix product: the plain triple loop.
//
// ruy chooses AVX, AVX2 or AVX-512 code by asking the CPU, and a float product
// summed in another order has other last bits: a policy could then decide
// differently on another machine. Here each sum runs over ascending k on every
// x86-64 CPU. Policies in float32 do not come here, TFLite hands them to Eigen;
// quantised ones do, with exact integer sums and ruy's rounding.

#ifndef MLGO_TFLITE_STAND_IN_RUY_RUY_H_
#define MLGO_TFLITE_STAND_IN_RUY_RUY_H_

#include <algorithm>
#include <cstdint>
#include <type_traits>

#include "ruy/context.h"
#include "ruy/matrix.h"
#include "ruy/mul_params.h"

namespace ruy {
namespace detail {

// value * fixedpoint * 2^(exponent - 31), rounded once, ties upwards, which is
// what ruy of 2023 computes. exponent <= 30, as TFLite's quantisation makes it.
inline std::int32_t ScaleBy(std::int32_t value, std::int32_t fixedpoint,
                            int exponent) {
  const int shift = 31 - exponent;  // in [1, 62]: 2^-31 and less give 0
  if (shift > 62) return 0;
  const std::int64_t product = static_cast<std::int64_t>(value) * fixedpoint;
  const std::int64_t half = std::int64_t{1} << (shift - 1);
  return static_cast<std::int32_t>((product + half) >> shift);
}

}  // namespace detail

// product = clamp(scale(lhs * rhs + bias)), lhs [M, K], rhs [K, N],
// product [M, N]; each input value counts as its distance from the zero point.
template <typename LhsScalar, typename RhsScalar, typename AccumScalar,
          typename DstScalar>
void Mul(const Matrix<LhsScalar> &lhs, const Matrix<RhsScalar> &rhs,
         const MulParams<AccumScalar, DstScalar> &params, Context *,
         Matrix<DstScalar> *product) {
  constexpr bool kIsRawSum = std::is_same_v<AccumScalar, std::int32_t> &&
                             std::is_same_v<DstScalar, std::int32_t>;
  constexpr bool kIsQuantised = std::is_integral_v<AccumScalar> && !kIsRawSum;
  const AccumScalar lhs_zero = lhs.zero_point();
  const AccumScalar rhs_zero = rhs.zero_point();
  for (int row = 0; row < lhs.layout().rows; ++row) {
    for (int col = 0; col < rhs.layout().cols; ++col) {
      AccumScalar sum = 0;
      for (int k = 0; k < lhs.layout().cols; ++k)
        sum += (static_cast<AccumScalar>(lhs.at(row, k)) - lhs_zero) *
               (static_cast<AccumScalar>(rhs.at(k, col)) - rhs_zero);
      if (params.bias()) sum += params.bias()[row];
      if constexpr (kIsQuantised)
        sum = detail::ScaleBy(sum, params.multiplier_fixedpoint(row),
                              params.multiplier_exponent(row));
      if constexpr (!kIsRawSum) {
        sum += product->zero_point();
        sum = std::min<AccumScalar>(sum, params.clamp_max());
        sum = std::max<AccumScalar>(sum, params.clamp_min());
      }
      product->mutable_at(row, col) = static_cast<DstScalar>(sum);
    }
  }
}

}  // namespace ruy

#endif  // MLGO_TFLITE_STAND_IN_RUY_RUY_H_
