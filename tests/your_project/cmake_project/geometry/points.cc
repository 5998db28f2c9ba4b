#include <algorithm>

#include "geometry/geometry.h"

namespace geometry {
namespace {
Point between(Point a, Point b, double share) { return a + (b - a) * share; }
double whole_length(const Points& points) {
  double sum = 0;
  for (size_t i = 1; i < points.size(); ++i) sum += distance(points[i - 1], points[i]);
  return sum;
}
}  // namespace

Points resampled(const Points& points, int count) {
  Points result;
  if (points.size() < 2 || count < 2) return points;
  double step = whole_length(points) / (count - 1), left = 0;
  for (size_t i = 1; i < points.size(); ++i) {
    double side = distance(points[i - 1], points[i]);
    while (left <= side && static_cast<int>(result.size()) < count) {
      result.push_back(between(points[i - 1], points[i], side > 0 ? left / side : 0));
      left += step;
    }
    left -= side;
  }
  while (static_cast<int>(result.size()) < count) result.push_back(points.back());
  return result;
}

Point centroid(const Points& points) {
  Point sum;
  for (Point p : points) sum = sum + p;
  return sum * (1.0 / static_cast<double>(std::max<size_t>(1, points.size())));
}
}  // namespace geometry
