#include "tally.h"

#include <math.h>

static uint64_t turned(uint64_t value, int by) { return value << by | value >> (64 - by); }

uint64_t random_next(Random *random) {
  uint64_t a = random->state[0], b = random->state[1], result = a + b;
  b ^= a;
  random->state[0] = turned(a, 55) ^ b ^ b << 14;
  random->state[1] = turned(b, 36);
  return result;
}

double random_uniform(Random *random) { return (double)(random_next(random) >> 11) / 9007199254740992.0; }

double random_normal(Random *random) {
  double u, v, s;
  do {
    u = 2 * random_uniform(random) - 1;
    v = 2 * random_uniform(random) - 1;
    s = u * u + v * v;
  } while (s >= 1 || s == 0);
  return u * sqrt(-2 * log(s) / s);
}
