// Draws a map of pseudo-random points, and prints a digest of the picture.
#include <cstdio>
#include <cstring>

#include "geometry/geometry.h"
#include "version.h"

using namespace geometry;

int main(int argc, char** argv) {
  if (argc > 1 && !std::strcmp(argv[1], "--version")) return std::puts("render " ATLAS_VERSION) < 0;
  Image image{160, 120, std::vector<uint32_t>(160 * 120)};
  Random random(11);
  for (int i = 0; i < 12; ++i) {
    Points outline = hull(random.points(9));
    for (Point& p : outline) p = {p.x * image.width, p.y * image.height};
    fill(image, clipped(outline, {{4, 4}, {156, 116}}), from_hue(i * 30, 200));
    Points line = resampled(outline, 20);
    for (size_t k = 1; k < line.size(); ++k) draw_line(image, line[k - 1], line[k], 0xffffff);
  }
  image = mixed(1, 2, 3) ? edges(blurred(image, 1)) : image;
  std::vector<int> cells;
  for (uint32_t pixel : image.pixels) cells.push_back((pixel & 255) > 128);
  uint64_t digest = 1469598103934665603u;
  for (int step : distances(cells, image.width, 0)) digest = (digest ^ static_cast<unsigned>(step)) * 1099511628211u;
  Point place = unproject(mercator(centroid(random.points(50))));
  std::printf("%016llx %.6f %.6f\n", static_cast<unsigned long long>(digest), place.x, place.y);
}
