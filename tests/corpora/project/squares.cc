#include "shapes.h"

namespace {
long table[64];

struct Square : Shape {
  long side;
  explicit Square(long s) : side(checked(s)) {}
  long area(long scale) const override { return side * side * scale; }
};

struct FillTable {
  FillTable() {
    for (int i = 0; i < 64; ++i) table[i] = (i * 7919L) % 1021;
  }
} fill_table;
}  // namespace

Shape *make_square(long side) { return new Square(side); }

long squares(int count) {
  long total = 0;
  for (int i = 0; i < count; ++i) total += clamp_to(table[i & 63] * i, -900L, 40000L);
  return total + sum_of_table(table, count & 63);
}
