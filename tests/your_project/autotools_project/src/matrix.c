#include "tally.h"

#include <math.h>

/* Four rows by four columns at a time: sixteen sums are live. */
static void block(const double *a, const double *b, double *result, int size, int row, int column) {
  double s00 = 0, s01 = 0, s02 = 0, s03 = 0, s10 = 0, s11 = 0, s12 = 0, s13 = 0;
  double s20 = 0, s21 = 0, s22 = 0, s23 = 0, s30 = 0, s31 = 0, s32 = 0, s33 = 0;
  for (int k = 0; k < size; ++k) {
    const double *line = b + (size_t)k * size + column;
    double a0 = a[row * size + k], a1 = a[(row + 1) * size + k], a2 = a[(row + 2) * size + k], a3 = a[(row + 3) * size + k];
    s00 += a0 * line[0], s01 += a0 * line[1], s02 += a0 * line[2], s03 += a0 * line[3];
    s10 += a1 * line[0], s11 += a1 * line[1], s12 += a1 * line[2], s13 += a1 * line[3];
    s20 += a2 * line[0], s21 += a2 * line[1], s22 += a2 * line[2], s23 += a2 * line[3];
    s30 += a3 * line[0], s31 += a3 * line[1], s32 += a3 * line[2], s33 += a3 * line[3];
  }
  double *to = result + (size_t)row * size + column;
  to[0] = s00, to[1] = s01, to[2] = s02, to[3] = s03, to += size;
  to[0] = s10, to[1] = s11, to[2] = s12, to[3] = s13, to += size;
  to[0] = s20, to[1] = s21, to[2] = s22, to[3] = s23, to += size;
  to[0] = s30, to[1] = s31, to[2] = s32, to[3] = s33;
}

void matrix_multiply(const double *a, const double *b, double *result, int size) {
  for (int row = 0; row < size; row += 4)
    for (int column = 0; column < size; column += 4) block(a, b, result, size, row, column);
}

static void swap(double *a, double *b) {
  double old = *a;
  *a = *b;
  *b = old;
}

int matrix_solve(double *a, double *x, int size) {
  for (int column = 0; column < size; ++column) {
    int pivot = column;
    for (int row = column + 1; row < size; ++row)
      if (fabs(a[row * size + column]) > fabs(a[pivot * size + column])) pivot = row;
    if (a[pivot * size + column] == 0) return 0;
    for (int i = 0; i < size; ++i) swap(&a[pivot * size + i], &a[column * size + i]);
    swap(&x[pivot], &x[column]);
    for (int row = 0; row < size; ++row) {
      if (row == column) continue;
      double share = a[row * size + column] / a[column * size + column];
      for (int i = column; i < size; ++i) a[row * size + i] -= share * a[column * size + i];
      x[row] -= share * x[column];
    }
  }
  for (int row = 0; row < size; ++row) x[row] /= a[row * size + row];
  return 1;
}
