#include <cstdio>
#include <cstdlib>

#include "geometry/geometry.h"

namespace geometry {
namespace {
class Scanner {
 public:
  explicit Scanner(const std::string& text) : at_(text.c_str()) {}
  bool number(double& value) {
    skip();
    char* end;
    value = std::strtod(at_, &end);
    bool found = end != at_;
    at_ = end;
    return found;
  }
  bool symbol(char symbol) {
    skip();
    if (*at_ != symbol) return false;
    ++at_;
    return true;
  }

 private:
  void skip() {
    while (*at_ == ' ' || *at_ == '\n' || *at_ == '\t') ++at_;
  }
  const char* at_;
};
void append(std::string& text, double value) {
  char digits[32];
  std::snprintf(digits, sizeof digits, "%.3f", value);
  text += digits;
}
}  // namespace

std::string formatted(const Points& points) {
  std::string text = "(";
  for (size_t i = 0; i < points.size(); ++i) {
    if (i) text += ", ";
    append(text, points[i].x);
    text += ' ';
    append(text, points[i].y);
  }
  return text + ")";
}

Points parsed(const std::string& text) {
  Scanner scanner(text);
  Points points;
  Point p;
  if (!scanner.symbol('(')) return points;
  while (scanner.number(p.x) && scanner.number(p.y)) {
    points.push_back(p);
    if (!scanner.symbol(',')) break;
  }
  return scanner.symbol(')') ? points : Points();
}
}  // namespace geometry
