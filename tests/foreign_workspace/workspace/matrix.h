#ifndef MATRIX_H_
#define MATRIX_H_

#include <array>

namespace shop {

constexpr int kSize = 8;
using Matrix = std::array<std::array<double, kSize>, kSize>;

// The product, with so many sums at once that the sixteen registers do not hold them.
Matrix Multiply(const Matrix &a, const Matrix &b);

}  // namespace shop

#endif  // MATRIX_H_
