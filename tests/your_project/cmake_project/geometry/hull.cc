#include <algorithm>

#include "geometry/geometry.h"

namespace geometry {
namespace {
void extend(Points& line, size_t fixed, Point p) {
  while (line.size() > fixed && turn(line[line.size() - 2], line.back(), p) <= 0) line.pop_back();
  line.push_back(p);
}
}  // namespace

Points hull(Points points) {
  std::sort(points.begin(), points.end());
  points.erase(std::unique(points.begin(), points.end()), points.end());
  if (points.size() < 3) return points;
  Points line;
  for (Point p : points) extend(line, 1, p);
  size_t lower = line.size();
  for (size_t i = points.size() - 1; i-- > 0;) extend(line, lower, points[i]);
  line.pop_back();
  return line;
}
}  // namespace geometry
