#include "tally.h"

static uint32_t crc_step(uint32_t crc, unsigned char byte) {
  crc ^= byte;
  for (int bit = 0; bit < 8; ++bit) crc = crc >> 1 ^ (0xedb88320u & -(crc & 1));
  return crc;
}

uint32_t checksum_crc(const unsigned char *bytes, size_t length) {
  uint32_t crc = ~0u;
  while (length--) crc = crc_step(crc, *bytes++);
  return ~crc;
}

static uint32_t turned(uint32_t value, int by) { return value << by | value >> (32 - by); }

static void quarter(uint32_t *a, uint32_t *b, uint32_t *c, uint32_t *d) {
  *a += *b, *d = turned(*d ^ *a, 16);
  *c += *d, *b = turned(*b ^ *c, 12);
  *a += *b, *d = turned(*d ^ *a, 8);
  *c += *d, *b = turned(*b ^ *c, 7);
}

static void stir(uint32_t s[16]) {
  for (int round = 0; round < 10; ++round) {
    for (int i = 0; i < 4; ++i) quarter(&s[i], &s[i + 4], &s[i + 8], &s[i + 12]);
    for (int i = 0; i < 4; ++i) quarter(&s[i], &s[4 + (i + 1) % 4], &s[8 + (i + 2) % 4], &s[12 + (i + 3) % 4]);
  }
}

void checksum_mix(const unsigned char *bytes, size_t length, uint32_t digest[8]) {
  uint32_t state[16];
  for (int i = 0; i < 16; ++i) state[i] = 0x9e3779b9u * (uint32_t)(i + 1);
  for (size_t begin = 0; begin < length; begin += 32) {
    for (size_t i = begin; i < begin + 32 && i < length; ++i) state[i / 4 % 8] ^= (uint32_t)bytes[i] << 8 * (i % 4);
    stir(state);
  }
  for (int i = 0; i < 8; ++i) digest[i] = state[i] ^ state[i + 8];
}
