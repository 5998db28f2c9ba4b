// What the program's parts share: virtual calls, exceptions, loops, templates and a function that every part inlines.
#ifndef TESTS_CORPORA_PROJECT_SHAPES_H
#define TESTS_CORPORA_PROJECT_SHAPES_H

struct Shape {
  virtual ~Shape();
  virtual long area(long scale) const = 0;
};

Shape *make_square(long side);
Shape *make_disc(long radius);

struct Negative {
  long value;
};

// Throws Negative.
long checked(long value);

extern "C" long sum_of_table(const long *table, int count);
extern "C" long mixed(long a, long b, long c);
long squares(int count);

template <typename T>
inline T clamp_to(T value, T low, T high) {
  return value < low ? low : value > high ? high : value;
}

#endif
