#include "matrix.h"

namespace shop {
namespace {

// Four rows by eight columns of the product at a time: 32 running sums.
template <int kRows>
void MultiplyRows(const Matrix &a, const Matrix &b, int row, Matrix &product) {
  double sums[kRows][kSize] = {};
  for (int k = 0; k < kSize; ++k) {
    double column[kRows];
    for (int i = 0; i < kRows; ++i) column[i] = a[row + i][k];
    for (int j = 0; j < kSize; ++j) {
      double weight = b[k][j] + (k == j ? 1e-9 : 0.0);
      for (int i = 0; i < kRows; ++i) sums[i][j] += column[i] * weight;
    }
  }
  for (int i = 0; i < kRows; ++i)
    for (int j = 0; j < kSize; ++j) product[row + i][j] = sums[i][j];
}

}  // namespace

Matrix Multiply(const Matrix &a, const Matrix &b) {
  Matrix product;
  for (int row = 0; row < kSize; row += 4) MultiplyRows<4>(a, b, row, product);
  return product;
}

}  // namespace shop
