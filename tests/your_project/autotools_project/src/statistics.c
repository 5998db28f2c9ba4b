#include "tally.h"

#include <math.h>

double statistics_quantile(const double *sorted, size_t count, double share) {
  double at = share * (double)(count - 1);
  size_t below = (size_t)at;
  return below + 1 < count ? sorted[below] + (at - (double)below) * (sorted[below + 1] - sorted[below]) : sorted[count - 1];
}

void statistics_moments(const double *values, size_t count, double moments[4]) {
  double mean = 0, m2 = 0, m3 = 0, m4 = 0;
  for (size_t i = 0; i < count; ++i) {
    double n = (double)(i + 1), delta = values[i] - mean, part = delta / n, term = delta * part * (n - 1);
    mean += part;
    m4 += term * part * part * (n * n - 3 * n + 3) + 6 * part * part * m2 - 4 * part * m3;
    m3 += term * part * (n - 2) - 3 * part * m2;
    m2 += term;
  }
  moments[0] = mean;
  moments[1] = m2 / (double)count;
  moments[2] = m2 > 0 ? sqrt((double)count) * m3 / pow(m2, 1.5) : 0;
  moments[3] = m2 > 0 ? (double)count * m4 / (m2 * m2) - 3 : 0;
}

double statistics_slope(const double *x, const double *y, size_t count) {
  double sx = 0, sy = 0, sxx = 0, sxy = 0;
  for (size_t i = 0; i < count; ++i) sx += x[i], sy += y[i], sxx += x[i] * x[i], sxy += x[i] * y[i];
  double n = (double)count, below = n * sxx - sx * sx;
  return below != 0 ? (n * sxy - sx * sy) / below : 0;
}
