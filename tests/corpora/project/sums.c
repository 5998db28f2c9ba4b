long mixed(long a, long b, long c) {
  switch (a & 7) {
    case 0: return a * b - c;
    case 1: return a + b * c;
    case 2: return (a ^ b) + c;
    case 3: return a - (b | c);
    case 5: return b / (c ? c : 1);
    default: return a * 31 + b * 17 + c;
  }
}

long sum_of_table(const long *table, int count) {
  long total = 0;
  for (int i = 0; i < count; ++i) {
    if (table[i] & 1) total += mixed(table[i], i, count);
    else total -= table[i];
  }
  return total;
}
