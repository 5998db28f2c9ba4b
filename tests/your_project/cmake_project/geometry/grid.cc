#include <deque>

#include "geometry/geometry.h"

namespace geometry {

// Steps from `start` to every free cell (0) of a grid with that width; -1: not reachable.
std::vector<int> distances(const std::vector<int>& cells, int width, int start) {
  int height = static_cast<int>(cells.size()) / width;
  std::vector<int> steps(cells.size(), -1);
  std::deque<int> open;
  auto visit = [&](int x, int y, int step) {
    if (x < 0 || y < 0 || x >= width || y >= height) return;
    size_t cell = static_cast<size_t>(y) * width + x;
    if (cells[cell] || steps[cell] >= 0) return;
    steps[cell] = step;
    open.push_back(static_cast<int>(cell));
  };
  visit(start % width, start / width, 0);
  while (!open.empty()) {
    int cell = open.front(), x = cell % width, y = cell / width, next = steps[cell] + 1;
    open.pop_front();
    visit(x - 1, y, next);
    visit(x + 1, y, next);
    visit(x, y - 1, next);
    visit(x, y + 1, next);
  }
  return steps;
}
}  // namespace geometry
