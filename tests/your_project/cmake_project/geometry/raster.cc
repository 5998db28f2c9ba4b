#include <algorithm>
#include <utility>

#include "geometry/geometry.h"

namespace geometry {
namespace {
void plot(Image& image, int x, int y, uint32_t colour, int share) {
  if (image.inside(x, y)) image.at(x, y) = mixed(image.at(x, y), colour, share);
}
}  // namespace

void draw_line(Image& image, Point a, Point b, uint32_t colour) {
  bool steep = std::fabs(b.y - a.y) > std::fabs(b.x - a.x);
  if (steep) std::swap(a.x, a.y), std::swap(b.x, b.y);
  if (b.x < a.x) std::swap(a, b);
  double slope = b.x > a.x ? (b.y - a.y) / (b.x - a.x) : 0, y = a.y;
  for (int x = static_cast<int>(a.x); x <= static_cast<int>(b.x); ++x, y += slope) {
    int row = static_cast<int>(std::floor(y)), share = static_cast<int>((y - row) * 255);
    if (steep) {
      plot(image, row, x, colour, 255 - share);
      plot(image, row + 1, x, colour, share);
    } else {
      plot(image, x, row, colour, 255 - share);
      plot(image, x, row + 1, colour, share);
    }
  }
}

void fill(Image& image, const Points& polygon, uint32_t colour) {
  std::vector<double> crossings;
  for (int y = 0; y < image.height; ++y) {
    crossings.clear();
    for (size_t i = 0; i < polygon.size(); ++i) {
      Point a = polygon[i], b = polygon[(i + 1) % polygon.size()];
      if ((a.y > y) != (b.y > y)) crossings.push_back(a.x + (b.x - a.x) * (y - a.y) / (b.y - a.y));
    }
    std::sort(crossings.begin(), crossings.end());
    for (size_t i = 0; i + 1 < crossings.size(); i += 2)
      for (int x = static_cast<int>(crossings[i]); x <= static_cast<int>(crossings[i + 1]); ++x)
        plot(image, x, y, colour, 255);
  }
}
}  // namespace geometry
