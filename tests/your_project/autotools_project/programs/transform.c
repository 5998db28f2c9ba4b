/* Transforms pseudo-random signals, and prints figures of the results. */
#include "tally.h"

#include <stdio.h>
#include <string.h>

enum { SIZE = 4096, SIDE = 48 };
static double real[SIZE], imaginary[SIZE], filtered[SIZE], a[SIDE * SIDE], b[SIDE * SIDE], product[SIDE * SIDE], x[SIDE];

int main(int argc, char **argv) {
  if (argc > 1 && !strcmp(argv[1], "--version")) return puts("transform " TALLY_VERSION) < 0;
  Random random = {{1, 2}};
  double moments[4], kernel[9];
  for (int i = 0; i < SIZE; ++i) real[i] = random_normal(&random);
  for (int i = 0; i < 9; ++i) kernel[i] = random_uniform(&random);
  for (int turn = 0; turn < 6; ++turn) spectrum_transform(real, imaginary, SIZE, turn % 2);
  spectrum_filter(real, kernel, filtered, SIZE, 9);
  sort_doubles(filtered, SIZE);
  statistics_moments(filtered, SIZE, moments);
  printf("%.6f %.6f %.6f %.6f\n", moments[0], moments[1], moments[2], moments[3]);
  printf("%.6f %.6f\n", statistics_quantile(filtered, SIZE, 0.9), statistics_slope(filtered, real, SIZE));
  for (int i = 0; i < SIDE * SIDE; ++i) a[i] = random_uniform(&random), b[i] = random_uniform(&random);
  for (int turn = 0; turn < 10; ++turn) matrix_multiply(a, b, product, SIDE);
  for (int i = 0; i < SIDE; ++i) x[i] = i;
  printf("%d %.6f\n", matrix_solve(product, x, SIDE), x[0]);
  uint64_t words[64];
  for (int i = 0; i < 64; ++i) words[i] = random_next(&random);
  bits_transpose(words);
  printf("%d %llu %llu\n", bits_count(words, 64), (unsigned long long)number_power(3, 1000003, 998244353),
         (unsigned long long)number_divisor(1000003u * 1000033ull));
  const char *names[] = {"fathom", "mile", "inch", "foot"};
  sort_texts(names, 4);
  for (int i = 0; i < 4; ++i) printf("%s %.4f\n", names[i], units_metres(3, names[i]));
}
