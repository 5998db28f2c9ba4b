#include "geometry/geometry.h"

namespace geometry {
namespace {
bool holds(const Circle& circle, Point p) { return distance(circle.centre, p) <= circle.radius * (1 + 1e-12); }

Circle around(Point a, Point b) { return {(a + b) * 0.5, distance(a, b) / 2}; }

Circle around(Point a, Point b, Point c) {
  Point u = b - a, v = c - a;
  double twice = 2 * cross(u, v);
  if (twice == 0) return around(a, distance(a, b) > distance(a, c) ? b : c);
  Point shift{(v.y * dot(u, u) - u.y * dot(v, v)) / twice, (u.x * dot(v, v) - v.x * dot(u, u)) / twice};
  return {a + shift, length(shift)};
}

Circle with_two(const Points& points, size_t count, Point first, Point second) {
  Circle circle = around(first, second);
  for (size_t i = 0; i < count; ++i)
    if (!holds(circle, points[i])) circle = around(first, second, points[i]);
  return circle;
}

Circle with_one(const Points& points, size_t count, Point first) {
  Circle circle{first, 0};
  for (size_t i = 0; i < count; ++i)
    if (!holds(circle, points[i])) circle = with_two(points, i, first, points[i]);
  return circle;
}
}  // namespace

Circle enclosing(const Points& points) {
  Circle circle;
  for (size_t i = 0; i < points.size(); ++i)
    if (i == 0 || !holds(circle, points[i])) circle = with_one(points, i, points[i]);
  return circle;
}
}  // namespace geometry
