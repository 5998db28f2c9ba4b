#include <algorithm>
#include <utility>

#include "geometry/geometry.h"

namespace geometry {
namespace {
double coordinate(Point p, bool by_x) { return by_x ? p.x : p.y; }
}  // namespace

Tree::Tree(Points points) : points_(std::move(points)) { build(0, points_.size(), true); }

void Tree::build(size_t begin, size_t end, bool by_x) {
  if (end - begin < 2) return;
  size_t middle = begin + (end - begin) / 2;
  auto less = [by_x](Point a, Point b) { return coordinate(a, by_x) < coordinate(b, by_x); };
  std::nth_element(points_.begin() + begin, points_.begin() + middle, points_.begin() + end, less);
  build(begin, middle, !by_x);
  build(middle + 1, end, !by_x);
}

void Tree::search(size_t begin, size_t end, bool by_x, Point p, size_t& best, double& reach) const {
  if (begin >= end) return;
  size_t middle = begin + (end - begin) / 2;
  double away = distance(points_[middle], p), side = coordinate(p, by_x) - coordinate(points_[middle], by_x);
  if (away < reach) reach = away, best = middle;
  bool left = side < 0;
  search(left ? begin : middle + 1, left ? middle : end, !by_x, p, best, reach);
  if (std::fabs(side) < reach) search(left ? middle + 1 : begin, left ? end : middle, !by_x, p, best, reach);
}

size_t Tree::nearest(Point p) const {
  size_t best = 0;
  double reach = INFINITY;
  search(0, points_.size(), true, p, best, reach);
  return best;
}
}  // namespace geometry
