#include "geometry/geometry.h"

namespace geometry {
namespace {
template <typename Edge>
void each_edge(const Points& polygon, Edge edge) {
  for (size_t i = 0; i < polygon.size(); ++i) edge(polygon[i], polygon[i + 1 < polygon.size() ? i + 1 : 0]);
}

template <typename Distance>
Points cut(const Points& polygon, Distance from_border) {
  Points kept;
  each_edge(polygon, [&](Point a, Point b) {
    double da = from_border(a), db = from_border(b);
    if (da >= 0) kept.push_back(a);
    if ((da < 0) != (db < 0)) kept.push_back(a + (b - a) * (da / (da - db)));
  });
  return kept;
}
}  // namespace

double area(const Points& polygon) {
  double twice = 0;
  each_edge(polygon, [&](Point a, Point b) { twice += cross(a, b); });
  return std::fabs(twice) / 2;
}

bool inside(const Points& polygon, Point p) {
  bool odd = false;
  each_edge(polygon, [&](Point a, Point b) {
    if ((a.y > p.y) != (b.y > p.y) && p.x < a.x + (b.x - a.x) * (p.y - a.y) / (b.y - a.y)) odd = !odd;
  });
  return odd;
}

Points clipped(const Points& polygon, Box box) {
  Points left = cut(polygon, [&](Point p) { return p.x - box.low.x; });
  left = cut(left, [&](Point p) { return box.high.x - p.x; });
  left = cut(left, [&](Point p) { return p.y - box.low.y; });
  return cut(left, [&](Point p) { return box.high.y - p.y; });
}
}  // namespace geometry
