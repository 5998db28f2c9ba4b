// Prints measures of points from a file, or of pseudo-random points.
#include <cstdio>
#include <cstring>

#include "geometry/geometry.h"
#include "version.h"

using namespace geometry;

static void report(const char* name, double value) { std::printf("%-12s %.4f\n", name, value); }

static std::string content(const char* path) {
  std::string text;
  if (std::FILE* file = std::fopen(path, "r")) {
    char block[4096];
    while (size_t count = std::fread(block, 1, sizeof block, file)) text.append(block, count);
    std::fclose(file);
  }
  return text;
}

int main(int argc, char** argv) {
  if (argc > 1 && !std::strcmp(argv[1], "--version")) return std::puts("measure " ATLAS_VERSION) < 0;
  Random random(7);
  Points points = argc > 1 ? parsed(content(argv[1])) : random.points(600);
  if (points.empty()) return std::fprintf(stderr, "measure: no points\n"), 2;
  Points outline = hull(points);
  Box box = bounds(points);
  report("area", area(outline));
  report("box", box.area());
  report("overlap", overlap(box, united(box, bounds(outline))));
  report("circle", enclosing(points).radius);
  report("kilometres", great_circle(points.front(), points.back()) / 1000);
  Tree tree(points);
  size_t sum = 0, within = 0;
  for (Point p : random.points(3000)) sum += tree.nearest(p), within += inside(outline, p);
  report("nearest", static_cast<double>(sum));
  report("within", static_cast<double>(within));
  report("steps", static_cast<double>(shortest_path(points, 0.1, 0, static_cast<int>(points.size()) - 1).size()));
  Matrix matrix;
  for (int i = 0; i < 4; ++i)
    for (int j = 0; j < 4; ++j) matrix.at[i][j] = random.uniform();
  report("determinant", determinant(product(matrix, inverse(matrix))));
  std::puts(formatted(simplified(outline, 0.01)).c_str());
}
