#include <algorithm>

#include "geometry/geometry.h"

namespace geometry {
namespace {
void grow(Box& box, Point p) {
  box.low = {std::min(box.low.x, p.x), std::min(box.low.y, p.y)};
  box.high = {std::max(box.high.x, p.x), std::max(box.high.y, p.y)};
}
double shared(double low, double high, double other_low, double other_high) {
  return std::max(0.0, std::min(high, other_high) - std::max(low, other_low));
}
}  // namespace

Box bounds(const Points& points) {
  if (points.empty()) return {};
  Box box{points[0], points[0]};
  for (Point p : points) grow(box, p);
  return box;
}

Box united(Box a, Box b) {
  grow(a, b.low);
  grow(a, b.high);
  return a;
}

double overlap(Box a, Box b) {
  return shared(a.low.x, a.high.x, b.low.x, b.high.x) * shared(a.low.y, a.high.y, b.low.y, b.high.y);
}
}  // namespace geometry
