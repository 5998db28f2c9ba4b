#include <algorithm>
#include <cstdlib>

#include "geometry/geometry.h"

namespace geometry {
namespace {
struct Sum {
  int red = 0, green = 0, blue = 0, count = 0;
  void add(uint32_t pixel) {
    red += pixel >> 16 & 255;
    green += pixel >> 8 & 255;
    blue += pixel & 255;
    ++count;
  }
  uint32_t mean() const {
    return static_cast<uint32_t>(red / count) << 16 | static_cast<uint32_t>(green / count) << 8 |
           static_cast<uint32_t>(blue / count);
  }
};
int grey(const Image& image, int x, int y) {
  x = std::clamp(x, 0, image.width - 1);
  y = std::clamp(y, 0, image.height - 1);
  uint32_t pixel = image.at(x, y);
  return static_cast<int>((pixel >> 16 & 255) * 3 + (pixel >> 8 & 255) * 6 + (pixel & 255)) / 10;
}
}  // namespace

Image blurred(const Image& image, int radius) {
  Image result = image;
  for (int y = 0; y < image.height; ++y)
    for (int x = 0; x < image.width; ++x) {
      Sum sum;
      for (int dy = -radius; dy <= radius; ++dy)
        for (int dx = -radius; dx <= radius; ++dx)
          if (image.inside(x + dx, y + dy)) sum.add(image.at(x + dx, y + dy));
      result.at(x, y) = sum.mean();
    }
  return result;
}

Image edges(const Image& image) {
  Image result = image;
  for (int y = 0; y < image.height; ++y)
    for (int x = 0; x < image.width; ++x) {
      int a = grey(image, x - 1, y - 1), b = grey(image, x, y - 1), c = grey(image, x + 1, y - 1);
      int d = grey(image, x - 1, y), e = grey(image, x + 1, y);
      int f = grey(image, x - 1, y + 1), g = grey(image, x, y + 1), h = grey(image, x + 1, y + 1);
      int across = c + 2 * e + h - a - 2 * d - f, down = f + 2 * g + h - a - 2 * b - c;
      int strength = std::min(255, std::abs(across) + std::abs(down));
      result.at(x, y) = static_cast<uint32_t>(strength) * 0x010101;
    }
  return result;
}
}  // namespace geometry
