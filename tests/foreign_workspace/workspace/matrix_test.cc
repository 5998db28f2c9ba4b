#include "matrix.h"

#include <cmath>
#include <cstdio>
#include <stdexcept>

#include "checksum.h"

int main() {
  shop::Matrix a{}, identity{};
  for (int i = 0; i < shop::kSize; ++i) {
    identity[i][i] = 1;
    for (int j = 0; j < shop::kSize; ++j) a[i][j] = i * 10 + j;
  }
  shop::Matrix product = shop::Multiply(a, identity);
  for (int i = 0; i < shop::kSize; ++i)
    for (int j = 0; j < shop::kSize; ++j)
      if (std::fabs(product[i][j] - a[i][j]) > 1e-6) return std::printf("product[%d][%d] is %f\n", i, j, product[i][j]), 1;
  // Published value of FNV-1a for "a".
  if (checksum("a", 1) != 0xe40c292cu) return std::printf("checksum is %08x\n", checksum("a", 1)), 1;
  // Exceptions cross functions that our clang compiled.
  try {
    throw std::runtime_error("x");
  } catch (const std::exception &) {
    return 0;
  }
}
