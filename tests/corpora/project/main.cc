#include <cstdio>
#include <cstdlib>

#include "shapes.h"

int main(int count, char **words) {
  long total = squares(count * 1000);
  for (int i = 1; i < count; ++i) {
    try {
      const Shape *shape = i % 2 ? make_square(std::atol(words[i])) : make_disc(std::atol(words[i]));
      total += shape->area(i);
      delete shape;
    } catch (const Negative &negative) {
      total -= negative.value;
    }
  }
  std::printf("%ld\n", total);
  return 0;
}
