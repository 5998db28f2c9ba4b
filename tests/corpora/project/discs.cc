#include "shapes.h"

namespace {
struct Disc : Shape {
  long radius;
  explicit Disc(long r) : radius(r) {}
  long area(long scale) const override { return mixed(radius * radius, scale, 22) / 7; }
};
}  // namespace

Shape::~Shape() = default;

Shape *make_disc(long radius) {
  try {
    return new Disc(checked(radius));
  } catch (const Negative &negative) {
    return new Disc(clamp_to(-negative.value, 1L, 50L));
  }
}
