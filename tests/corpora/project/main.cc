#include "shapes.h"

// Declared here: the project needs no header of a system.
extern "C" int printf(const char *, ...);
extern "C" long atol(const char *);

int main(int count, char **words) {
  long total = squares(count * 1000);
  for (int i = 1; i < count; ++i) {
    try {
      const Shape *shape = i % 2 ? make_square(atol(words[i])) : make_disc(atol(words[i]));
      total += shape->area(i);
      delete shape;
    } catch (const Negative &negative) {
      total -= negative.value;
    }
  }
  printf("%ld\n", total);
  return 0;
}
