#include <algorithm>
#include <functional>
#include <queue>
#include <utility>

#include "geometry/geometry.h"

namespace geometry {

// Indices of the points on the shortest way whose steps are at most `reach` long; empty: there is none.
std::vector<int> shortest_path(const Points& points, double reach, int from, int to) {
  using Entry = std::pair<double, int>;
  std::vector<double> best(points.size(), INFINITY);
  std::vector<int> before(points.size(), -1);
  std::priority_queue<Entry, std::vector<Entry>, std::greater<Entry>> open;
  best[from] = 0;
  open.push({0.0, from});
  while (!open.empty()) {
    auto [length, here] = open.top();
    open.pop();
    if (length > best[here]) continue;
    if (here == to) break;
    for (size_t next = 0; next < points.size(); ++next) {
      double step = distance(points[here], points[next]);
      if (step > reach || length + step >= best[next]) continue;
      best[next] = length + step;
      before[next] = here;
      open.push({best[next], static_cast<int>(next)});
    }
  }
  std::vector<int> path;
  if (best[to] == INFINITY) return path;
  for (int at = to; at >= 0; at = before[at]) path.push_back(at);
  std::reverse(path.begin(), path.end());
  return path;
}
}  // namespace geometry
