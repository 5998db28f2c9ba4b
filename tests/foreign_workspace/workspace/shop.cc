#include <cstdio>

#include "checksum.h"
#include "matrix.h"

namespace {

// Small enough for -Os to copy it into both of its callers, too large for somebody who wants a small program.
double Trace(const shop::Matrix &matrix, int first) {
  double sum = 0;
  for (int i = first; i < shop::kSize; ++i) {
    double value = matrix[i][i];
    sum += value < 0 ? -value : value * 0.5 + matrix[i][shop::kSize - 1 - i];
  }
  return sum;
}

double Upper(const shop::Matrix &matrix) { return Trace(matrix, shop::kSize / 2); }

}  // namespace

int main(int argc, char **) {
  shop::Matrix a{};
  for (int i = 0; i < shop::kSize; ++i)
    for (int j = 0; j < shop::kSize; ++j) a[i][j] = i * 3 + j;
  shop::Matrix product = shop::Multiply(a, a);
  if (argc > 1) std::printf("%.1f %.1f\n", Trace(product, argc - 1), Upper(product));
  std::printf("%.0f %08x\n", product[7][7], checksum("shop", 4));
}
