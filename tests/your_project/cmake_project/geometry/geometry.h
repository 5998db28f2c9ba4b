// Planar geometry: what the modules of the library share.
#ifndef GEOMETRY_GEOMETRY_H_
#define GEOMETRY_GEOMETRY_H_

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace geometry {

template <typename T>
struct Vector {
  T x{}, y{};
  friend Vector operator+(Vector a, Vector b) { return {a.x + b.x, a.y + b.y}; }
  friend Vector operator-(Vector a, Vector b) { return {a.x - b.x, a.y - b.y}; }
  friend Vector operator*(Vector a, T s) { return {a.x * s, a.y * s}; }
  friend bool operator==(Vector a, Vector b) { return a.x == b.x && a.y == b.y; }
  friend bool operator<(Vector a, Vector b) { return a.x < b.x || (a.x == b.x && a.y < b.y); }
};

template <typename T>
T dot(Vector<T> a, Vector<T> b) {
  return a.x * b.x + a.y * b.y;
}
template <typename T>
T cross(Vector<T> a, Vector<T> b) {
  return a.x * b.y - a.y * b.x;
}
template <typename T>
T turn(Vector<T> a, Vector<T> b, Vector<T> c) {
  return cross(b - a, c - a);
}
inline double length(Vector<double> a) { return std::sqrt(dot(a, a)); }
inline double distance(Vector<double> a, Vector<double> b) { return length(a - b); }

using Point = Vector<double>;
using Points = std::vector<Point>;

struct Box {
  Point low, high;
  bool contains(Point p) const { return p.x >= low.x && p.x <= high.x && p.y >= low.y && p.y <= high.y; }
  double width() const { return high.x - low.x; }
  double height() const { return high.y - low.y; }
  double area() const { return width() * height(); }
};
struct Circle {
  Point centre;
  double radius = 0;
};
struct Matrix {
  double at[4][4] = {};
};
struct Image {
  int width = 0, height = 0;
  std::vector<uint32_t> pixels;
  uint32_t& at(int x, int y) { return pixels[static_cast<size_t>(y) * width + x]; }
  uint32_t at(int x, int y) const { return pixels[static_cast<size_t>(y) * width + x]; }
  bool inside(int x, int y) const { return x >= 0 && y >= 0 && x < width && y < height; }
};

Box bounds(const Points& points);
Box united(Box a, Box b);
double overlap(Box a, Box b);
Circle enclosing(const Points& points);
uint32_t mixed(uint32_t a, uint32_t b, int share);
uint32_t from_hue(int hue, int light);
Image blurred(const Image& image, int radius);
Image edges(const Image& image);
std::vector<int> distances(const std::vector<int>& cells, int width, int start);
Points hull(Points points);
Matrix product(const Matrix& a, const Matrix& b);
Matrix inverse(Matrix a);
double determinant(const Matrix& a);
std::vector<int> shortest_path(const Points& points, double reach, int from, int to);
Points resampled(const Points& points, int count);
Point centroid(const Points& points);
double area(const Points& polygon);
bool inside(const Points& polygon, Point p);
Points clipped(const Points& polygon, Box box);
Point mercator(Point degrees);
Point unproject(Point metres);
double great_circle(Point a, Point b);
class Random {
 public:
  explicit Random(uint64_t seed) : state_(seed) {}
  uint32_t next();
  double uniform();
  Points points(int count);

 private:
  uint64_t state_;
};
void draw_line(Image& image, Point a, Point b, uint32_t colour);
void fill(Image& image, const Points& polygon, uint32_t colour);
Points simplified(const Points& line, double tolerance);
std::string formatted(const Points& points);
Points parsed(const std::string& text);
class Tree {
 public:
  explicit Tree(Points points);
  size_t nearest(Point p) const;

 private:
  void build(size_t begin, size_t end, bool by_x);
  void search(size_t begin, size_t end, bool by_x, Point p, size_t& best, double& reach) const;
  Points points_;
};

}  // namespace geometry

#endif  // GEOMETRY_GEOMETRY_H_
