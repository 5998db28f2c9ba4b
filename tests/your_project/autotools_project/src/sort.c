#include "tally.h"

#include <string.h>

static void swap(double *a, double *b) {
  double old = *a;
  *a = *b;
  *b = old;
}

static double median(double a, double b, double c) {
  if (a > b) swap(&a, &b);
  return c < a ? a : c > b ? b : c;
}

static void insert(double *values, size_t count) {
  for (size_t i = 1; i < count; ++i)
    for (size_t k = i; k && values[k] < values[k - 1]; --k) swap(&values[k], &values[k - 1]);
}

void sort_doubles(double *values, size_t count) {
  while (count > 16) {
    double pivot = median(values[0], values[count / 2], values[count - 1]);
    size_t low = 0, high = count - 1;
    for (;;) {
      while (values[low] < pivot) ++low;
      while (values[high] > pivot) --high;
      if (low >= high) break;
      swap(&values[low++], &values[high--]);
    }
    sort_doubles(values, low);
    values += low;
    count -= low;
  }
  insert(values, count);
}

static void sift(const char **texts, size_t at, size_t count) {
  for (size_t child; (child = 2 * at + 1) < count; at = child) {
    if (child + 1 < count && strcmp(texts[child], texts[child + 1]) < 0) ++child;
    if (strcmp(texts[at], texts[child]) >= 0) return;
    const char *old = texts[at];
    texts[at] = texts[child];
    texts[child] = old;
  }
}

void sort_texts(const char **texts, size_t count) {
  for (size_t i = count / 2; i-- > 0;) sift(texts, i, count);
  while (count-- > 1) {
    const char *last = texts[count];
    texts[count] = texts[0];
    texts[0] = last;
    sift(texts, 0, count);
  }
}
