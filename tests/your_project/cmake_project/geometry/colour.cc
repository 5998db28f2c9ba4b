#include <algorithm>

#include "geometry/geometry.h"

namespace geometry {
namespace {
int part(uint32_t colour, int index) { return colour >> (8 * index) & 255; }
uint32_t packed(int red, int green, int blue) {
  auto limited = [](int value) { return static_cast<uint32_t>(std::clamp(value, 0, 255)); };
  return limited(red) << 16 | limited(green) << 8 | limited(blue);
}
int channel(int hue, int light) {
  hue = ((hue % 360) + 360) % 360;
  int wave = hue < 60 ? hue * 255 / 60 : hue < 180 ? 255 : hue < 240 ? (240 - hue) * 255 / 60 : 0;
  return wave * light / 255;
}
}  // namespace

uint32_t mixed(uint32_t a, uint32_t b, int share) {
  auto blend = [&](int index) { return (part(a, index) * (255 - share) + part(b, index) * share) / 255; };
  return packed(blend(2), blend(1), blend(0));
}

uint32_t from_hue(int hue, int light) {
  return packed(channel(hue + 120, light), channel(hue, light), channel(hue - 120, light));
}
}  // namespace geometry
