// Prints for which machine it was compiled, and results of 64-bit and floating-point library code.
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#if defined(__aarch64__)
#define MACHINE "aarch64"
#elif defined(__thumb__)
#define MACHINE "thumb"
#elif defined(__riscv)
#define MACHINE "riscv"
#else
#error "a target without a name"
#endif

static int ascending(const void *left, const void *right) {
  uint32_t a = *(const uint32_t *)left, b = *(const uint32_t *)right;
  return a < b ? -1 : a > b;
}

int main(int count, char **words) {
  uint32_t values[1000], state = 1;
  for (int i = 0; i < 1000; ++i)
    values[i] = state = state * 1664525u + 1013904223u;
  qsort(values, 1000, sizeof values[0], ascending);
  uint64_t product = (uint64_t)values[999] * values[998] / (values[0] + 1u);
  printf("%s %zu %u %u %llu %.6f %s\n", MACHINE, sizeof(void *) * 8, values[0], values[999],
         (unsigned long long)product, sqrt(values[500]), count > 1 ? words[1] : "-");
  return 0;
}
