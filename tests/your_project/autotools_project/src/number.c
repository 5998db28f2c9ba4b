#include "tally.h"

static int digit(char symbol) { return symbol >= '0' && symbol <= '9' ? symbol - '0' : -1; }

double number_parse(const char *text, const char **end) {
  const char *at = text;
  double sign = *at == '-' ? -1 : 1, value = 0, scale = 1;
  if (*at == '-' || *at == '+') ++at;
  const char *first = at;
  for (; digit(*at) >= 0; ++at) value = 10 * value + digit(*at);
  if (*at == '.')
    for (++at; digit(*at) >= 0; ++at) value += digit(*at) * (scale /= 10);
  if (at != first && (*at == 'e' || *at == 'E')) {
    int down = at[1] == '-', exponent = 0;
    for (at += down || at[1] == '+' ? 2 : 1; digit(*at) >= 0; ++at) exponent = 10 * exponent + digit(*at);
    while (exponent--) value = down ? value / 10 : value * 10;
  }
  *end = at == first ? text : at;
  return sign * value;
}

static uint64_t times(uint64_t a, uint64_t b, uint64_t modulus) {
  return (uint64_t)((unsigned __int128)a * b % modulus);
}

uint64_t number_power(uint64_t base, uint64_t exponent, uint64_t modulus) {
  uint64_t result = 1;
  for (base %= modulus; exponent; exponent >>= 1, base = times(base, base, modulus))
    if (exponent & 1) result = times(result, base, modulus);
  return result;
}

static uint64_t common(uint64_t a, uint64_t b) {
  while (b) {
    uint64_t rest = a % b;
    a = b;
    b = rest;
  }
  return a;
}

static uint64_t stepped(uint64_t x, uint64_t number) { return (times(x, x, number) + 1) % number; }

uint64_t number_divisor(uint64_t number) {
  if (number % 2 == 0) return 2;
  uint64_t slow = 2, fast = 2, divisor = 1;
  while (divisor == 1) {
    slow = stepped(slow, number);
    fast = stepped(stepped(fast, number), number);
    divisor = common(slow > fast ? slow - fast : fast - slow, number);
  }
  return divisor;
}
