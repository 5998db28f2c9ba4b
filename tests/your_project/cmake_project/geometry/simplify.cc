#include "geometry/geometry.h"

namespace geometry {
namespace {
double from_line(Point a, Point b, Point p) {
  double side = distance(a, b);
  return side > 0 ? std::fabs(turn(a, b, p)) / side : distance(a, p);
}

void keep(const Points& line, size_t first, size_t last, double tolerance, std::vector<bool>& kept) {
  size_t farthest = first;
  double most = tolerance;
  for (size_t i = first + 1; i < last; ++i) {
    double away = from_line(line[first], line[last], line[i]);
    if (away > most) most = away, farthest = i;
  }
  if (farthest == first) return;
  kept[farthest] = true;
  keep(line, first, farthest, tolerance, kept);
  keep(line, farthest, last, tolerance, kept);
}
}  // namespace

Points simplified(const Points& line, double tolerance) {
  if (line.size() < 3) return line;
  std::vector<bool> kept(line.size());
  kept.front() = kept.back() = true;
  keep(line, 0, line.size() - 1, tolerance, kept);
  Points result;
  for (size_t i = 0; i < line.size(); ++i)
    if (kept[i]) result.push_back(line[i]);
  return result;
}
}  // namespace geometry
