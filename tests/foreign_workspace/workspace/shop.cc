#include <cstdio>

#include "checksum.h"
#include "matrix.h"

int main() {
  shop::Matrix a{};
  for (int i = 0; i < shop::kSize; ++i)
    for (int j = 0; j < shop::kSize; ++j) a[i][j] = i * 3 + j;
  shop::Matrix product = shop::Multiply(a, a);
  std::printf("%.0f %08x\n", product[7][7], checksum("shop", 4));
}
