#include <string>
#include <vector>

#include "scale.h"

std::string join(const std::vector<std::string> &names) {
  std::string text;
  for (const auto &name : names) text.append(SCALE, '-').append(name);
  return text;
}
