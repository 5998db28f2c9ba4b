#include "shapes.h"

long checked(long value) {
  if (value < 0) throw Negative{value};
  return value;
}
