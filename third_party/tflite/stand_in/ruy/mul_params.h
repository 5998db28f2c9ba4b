// Stand-in for ruy's description of what follows a product: bias, scaling,
// clamping. Same setters and defaults as ruy's, the part TFLite 2.14 uses.

#ifndef MLGO_TFLITE_STAND_IN_RUY_MUL_PARAMS_H_
#define MLGO_TFLITE_STAND_IN_RUY_MUL_PARAMS_H_

#include <limits>

namespace ruy {

// AccumScalar is the type sums are kept in: float for float, int32 otherwise.
// An int32 product (DstScalar = int32) is the raw sum: no scaling, no clamping.
template <typename AccumScalar, typename DstScalar>
class MulParams {
 public:
  // One value per row of the product, or null.
  const AccumScalar *bias() const { return bias_; }
  void set_bias(const AccumScalar *bias) { bias_ = bias; }

  // Quantised products only: sum * fixedpoint * 2^(exponent - 31), with one
  // pair for the whole product or, `perchannel`, one pair per row.
  void set_multiplier_fixedpoint(AccumScalar value) { fixedpoint_ = value; }
  void set_multiplier_exponent(int value) { exponent_ = value; }
  void set_multiplier_fixedpoint_perchannel(const AccumScalar *values) {
    fixedpoint_perchannel_ = values;
  }
  void set_multiplier_exponent_perchannel(const int *values) {
    exponent_perchannel_ = values;
  }
  AccumScalar multiplier_fixedpoint(int row) const {
    return fixedpoint_perchannel_ ? fixedpoint_perchannel_[row] : fixedpoint_;
  }
  int multiplier_exponent(int row) const {
    return exponent_perchannel_ ? exponent_perchannel_[row] : exponent_;
  }

  DstScalar clamp_min() const { return clamp_min_; }
  void set_clamp_min(DstScalar value) { clamp_min_ = value; }
  DstScalar clamp_max() const { return clamp_max_; }
  void set_clamp_max(DstScalar value) { clamp_max_ = value; }

 private:
  using Limits = std::numeric_limits<DstScalar>;

  const AccumScalar *bias_ = nullptr;
  AccumScalar fixedpoint_ = 0;
  int exponent_ = 0;
  const AccumScalar *fixedpoint_perchannel_ = nullptr;
  const int *exponent_perchannel_ = nullptr;
  DstScalar clamp_min_ =
      Limits::has_infinity ? -Limits::infinity() : Limits::lowest();
  DstScalar clamp_max_ =
      Limits::has_infinity ? Limits::infinity() : Limits::max();
};

}  // namespace ruy

#endif  // MLGO_TFLITE_STAND_IN_RUY_MUL_PARAMS_H_
