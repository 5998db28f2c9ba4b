#include "tally.h"

static int count(uint64_t word) {
  word -= word >> 1 & 0x5555555555555555u;
  word = (word & 0x3333333333333333u) + (word >> 2 & 0x3333333333333333u);
  word = (word + (word >> 4)) & 0x0f0f0f0f0f0f0f0fu;
  return (int)(word * 0x0101010101010101u >> 56);
}

int bits_count(const uint64_t *words, size_t length) {
  int sum = 0;
  size_t i = 0;
  for (; i + 4 <= length; i += 4) sum += count(words[i]) + count(words[i + 1]) + count(words[i + 2]) + count(words[i + 3]);
  for (; i < length; ++i) sum += count(words[i]);
  return sum;
}

static void exchange(uint64_t *a, uint64_t *b, int shift, uint64_t mask) {
  uint64_t differ = (*a >> shift ^ *b) & mask;
  *b ^= differ;
  *a ^= differ << shift;
}

void bits_transpose(uint64_t block[64]) {
  uint64_t mask = 0x00000000ffffffffu;
  for (int width = 32; width; width >>= 1, mask ^= mask << width)
    for (int row = 0; row < 64; row = ((row | width) + 1) & ~width) exchange(&block[row], &block[row | width], width, mask);
}
