#include "geometry/geometry.h"

namespace geometry {
namespace {
uint32_t rotated(uint32_t value, int by) { return value >> by | value << (-by & 31); }
}  // namespace

uint32_t Random::next() {
  uint64_t old = state_;
  state_ = old * 6364136223846793005u + 1442695040888963407u;
  return rotated(static_cast<uint32_t>((old >> 18 ^ old) >> 27), static_cast<int>(old >> 59));
}

double Random::uniform() { return next() / 4294967296.0; }

Points Random::points(int count) {
  Points result;
  for (int i = 0; i < count; ++i) {
    double x = uniform();
    result.push_back({x, uniform()});
  }
  return result;
}
}  // namespace geometry
