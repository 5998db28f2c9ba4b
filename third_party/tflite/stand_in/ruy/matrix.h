// Stand-in for ruy's matrix views, the part TFLite 2.14 uses.

#ifndef MLGO_TFLITE_STAND_IN_RUY_MATRIX_H_
#define MLGO_TFLITE_STAND_IN_RUY_MATRIX_H_

#include <cstddef>
#include <cstdint>

namespace ruy {

// kColMajor: the elements of one column are adjacent in memory.
enum class Order : std::uint8_t { kColMajor, kRowMajor };

// Whether a packed copy may be kept; nothing here packs, so it is not read.
enum class CachePolicy : std::uint8_t {
  kNeverCache,
  kCacheIfLargeSpeedup,
  kCacheIfSignificantSpeedup,
  kAlwaysCache,
};

struct Layout {
  int rows = 0;
  int cols = 0;
  std::ptrdiff_t row_stride = 0;  // in elements, from (r, c) to (r + 1, c)
  std::ptrdiff_t col_stride = 0;  // in elements, from (r, c) to (r, c + 1)
};

// Describes a dense rows x cols matrix without padding.
inline void MakeSimpleLayout(int rows, int cols, Order order, Layout *layout) {
  layout->rows = rows;
  layout->cols = cols;
  layout->row_stride = order == Order::kColMajor ? 1 : cols;
  layout->col_stride = order == Order::kColMajor ? rows : 1;
}

// A view of a matrix the caller owns. An input is set from a pointer to const
// and only read through at(); the product is written through mutable_at().
template <typename Scalar>
class Matrix {
 public:
  void set_data(Scalar *data) { data_ = mutable_data_ = data; }
  void set_data(const Scalar *data) {
    data_ = data;
    mutable_data_ = nullptr;
  }
  const Layout &layout() const { return layout_; }
  Layout *mutable_layout() { return &layout_; }
  // The stored value which means 0; itself 0 unless the matrix is quantised.
  Scalar zero_point() const { return zero_point_; }
  void set_zero_point(Scalar value) { zero_point_ = value; }
  void set_cache_policy(CachePolicy) {}

  Scalar at(int row, int col) const { return data_[Offset(row, col)]; }
  Scalar &mutable_at(int row, int col) {
    return mutable_data_[Offset(row, col)];
  }

 private:
  std::ptrdiff_t Offset(int row, int col) const {
    return row * layout_.row_stride + col * layout_.col_stride;
  }

  const Scalar *data_ = nullptr;
  Scalar *mutable_data_ = nullptr;
  Layout layout_;
  Scalar zero_point_ = 0;
};

}  // namespace ruy

#endif  // MLGO_TFLITE_STAND_IN_RUY_MATRIX_H_
