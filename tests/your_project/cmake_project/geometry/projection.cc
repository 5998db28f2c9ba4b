#include <algorithm>

#include "geometry/geometry.h"

namespace geometry {
namespace {
constexpr double kPi = 3.14159265358979323846, kRadius = 6371000;
double radians(double degrees) { return degrees * (kPi / 180); }
double degrees(double radians) { return radians * (180 / kPi); }
double squared(double x) { return x * x; }
}  // namespace

Point mercator(Point place) {
  double latitude = std::clamp(place.y, -85.0, 85.0);
  return {kRadius * radians(place.x), kRadius * std::log(std::tan(kPi / 4 + radians(latitude) / 2))};
}

Point unproject(Point metres) {
  return {degrees(metres.x / kRadius), degrees(2 * std::atan(std::exp(metres.y / kRadius)) - kPi / 2)};
}

double great_circle(Point a, Point b) {
  double across = radians(b.x - a.x), up = radians(b.y - a.y);
  double half = squared(std::sin(up / 2)) +
                std::cos(radians(a.y)) * std::cos(radians(b.y)) * squared(std::sin(across / 2));
  return 2 * kRadius * std::asin(std::sqrt(std::min(1.0, half)));
}
}  // namespace geometry
