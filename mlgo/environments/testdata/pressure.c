/* More values alive at once than x86-64 has registers, in loops and around calls: evictions, spills and priorities. */

extern unsigned long next(unsigned long seed);

static unsigned long turn(unsigned long value, int by) { return value << by | value >> (64 - by); }

unsigned long mix(const unsigned long *words, unsigned long count) {
  unsigned long a = 1, b = 2, c = 3, d = 4, e = 5, f = 6, g = 7, h = 8, i = 9, j = 10, k = 11, l = 12, m = 13, n = 14, o = 15, p = 16;
  for (unsigned long at = 0; at + 16 <= count; at += 16) {
    a += words[at] ^ turn(b, 3), b += words[at + 1] ^ turn(c, 5), c += words[at + 2] ^ turn(d, 7), d += words[at + 3] ^ turn(e, 9);
    e += words[at + 4] ^ turn(f, 11), f += words[at + 5] ^ turn(g, 13), g += words[at + 6] ^ turn(h, 15), h += words[at + 7] ^ turn(i, 17);
    i += words[at + 8] ^ turn(j, 19), j += words[at + 9] ^ turn(k, 21), k += words[at + 10] ^ turn(l, 23), l += words[at + 11] ^ turn(m, 25);
    m += words[at + 12] ^ turn(n, 27), n += words[at + 13] ^ turn(o, 29), o += words[at + 14] ^ turn(p, 31), p += words[at + 15] ^ turn(a, 33);
    if ((a ^ p) & 1) d += next(e), h -= next(l), m ^= next(b);
  }
  return a ^ b ^ c ^ d ^ e ^ f ^ g ^ h ^ i ^ j ^ k ^ l ^ m ^ n ^ o ^ p;
}

unsigned long sort_few(unsigned long *values, unsigned long count) {
  unsigned long swaps = 0;
  for (unsigned long low = 0; low < count; ++low)
    for (unsigned long high = low + 1; high < count; ++high)
      if (turn(values[high], 8) < turn(values[low], 8)) {
        unsigned long held = values[low];
        values[low] = values[high], values[high] = held, swaps += next(held);
      }
  return swaps;
}
