#include <utility>

#include "geometry/geometry.h"

namespace geometry {
namespace {
Matrix identity() {
  Matrix m;
  for (int i = 0; i < 4; ++i) m.at[i][i] = 1;
  return m;
}
int largest(const Matrix& m, int column) {
  int best = column;
  for (int row = column + 1; row < 4; ++row)
    if (std::fabs(m.at[row][column]) > std::fabs(m.at[best][column])) best = row;
  return best;
}
void scale(Matrix& m, int row, double factor) {
  for (double& value : m.at[row]) value *= factor;
}
void subtract(Matrix& m, int row, int other, double factor) {
  for (int i = 0; i < 4; ++i) m.at[row][i] -= m.at[other][i] * factor;
}
}  // namespace

Matrix product(const Matrix& a, const Matrix& b) {
  Matrix result;
  for (int i = 0; i < 4; ++i)
    for (int j = 0; j < 4; ++j)
      for (int k = 0; k < 4; ++k) result.at[i][j] += a.at[i][k] * b.at[k][j];
  return result;
}

Matrix inverse(Matrix a) {
  Matrix result = identity();
  for (int column = 0; column < 4; ++column) {
    int pivot = largest(a, column);
    std::swap(a.at[pivot], a.at[column]);
    std::swap(result.at[pivot], result.at[column]);
    double factor = 1 / a.at[column][column];
    scale(a, column, factor);
    scale(result, column, factor);
    for (int row = 0; row < 4; ++row) {
      if (row == column) continue;
      double share = a.at[row][column];
      subtract(a, row, column, share);
      subtract(result, row, column, share);
    }
  }
  return result;
}

double determinant(const Matrix& a) {
  auto minor = [&](int r, int s, int t, int c, int d, int e) {
    return a.at[r][c] * (a.at[s][d] * a.at[t][e] - a.at[s][e] * a.at[t][d]) -
           a.at[r][d] * (a.at[s][c] * a.at[t][e] - a.at[s][e] * a.at[t][c]) +
           a.at[r][e] * (a.at[s][c] * a.at[t][d] - a.at[s][d] * a.at[t][c]);
  };
  return a.at[0][0] * minor(1, 2, 3, 1, 2, 3) - a.at[0][1] * minor(1, 2, 3, 0, 2, 3) +
         a.at[0][2] * minor(1, 2, 3, 0, 1, 3) - a.at[0][3] * minor(1, 2, 3, 0, 1, 2);
}
}  // namespace geometry
