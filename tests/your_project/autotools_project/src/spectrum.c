#include "tally.h"

#include <math.h>

/* A step of radix four: four complex values and three factors are live. */
static void step4(double *r, double *i, int stride, double wr, double wi) {
  double vr = wr * wr - wi * wi, vi = 2 * wr * wi, ur = wr * vr - wi * vi, ui = wr * vi + wi * vr;
  double ar = r[0], ai = i[0];
  double br = r[stride] * wr - i[stride] * wi, bi = r[stride] * wi + i[stride] * wr;
  double cr = r[2 * stride] * vr - i[2 * stride] * vi, ci = r[2 * stride] * vi + i[2 * stride] * vr;
  double dr = r[3 * stride] * ur - i[3 * stride] * ui, di = r[3 * stride] * ui + i[3 * stride] * ur;
  double er = ar + cr, ei = ai + ci, fr = ar - cr, fi = ai - ci, gr = br + dr, gi = bi + di, hr = br - dr, hi = bi - di;
  r[0] = er + gr, i[0] = ei + gi;
  r[2 * stride] = er - gr, i[2 * stride] = ei - gi;
  r[stride] = fr + hi, i[stride] = fi - hr;
  r[3 * stride] = fr - hi, i[3 * stride] = fi + hr;
}

static void reorder(double *values, int size) {
  for (int at = 0; at < size; ++at) {
    int other = 0;
    for (int bits = size / 4, from = at; bits; bits /= 4, from /= 4) other += from % 4 * bits;
    if (other <= at) continue;
    double old = values[at];
    values[at] = values[other];
    values[other] = old;
  }
}

/* Args: size: a power of four. */
void spectrum_transform(double *real, double *imaginary, int size, int inverse) {
  reorder(real, size);
  reorder(imaginary, size);
  for (int stride = 1; stride < size; stride *= 4)
    for (int k = 0; k < stride; ++k) {
      double angle = -1.5707963267948966 * k / stride, wr = cos(angle), wi = sin(angle);
      for (int at = k; at < size; at += 4 * stride) step4(real + at, imaginary + at, stride, wr, wi);
    }
  for (int at = 0; inverse && at < size; ++at) real[at] /= size, imaginary[at] /= -size;
}

void spectrum_filter(const double *signal, const double *kernel, double *result, int size, int taps) {
  for (int at = 0; at + taps + 8 <= size; at += 8) {
    double a = 0, b = 0, c = 0, d = 0, e = 0, f = 0, g = 0, h = 0;
    for (int k = 0; k < taps; ++k) {
      double factor = kernel[k];
      const double *from = signal + at + k;
      a += factor * from[0], b += factor * from[1], c += factor * from[2], d += factor * from[3];
      e += factor * from[4], f += factor * from[5], g += factor * from[6], h += factor * from[7];
    }
    double *to = result + at;
    to[0] = a, to[1] = b, to[2] = c, to[3] = d, to[4] = e, to[5] = f, to[6] = g, to[7] = h;
  }
}
