// Prints results of C++ library code that needs the target's own unwinder, iostreams and allocator.
#include <iostream>
#include <map>
#include <stdexcept>
#include <string>

static int checked(const std::map<std::string, int> &table, const std::string &key) {
  auto found = table.find(key);
  if (found == table.end())
    throw std::out_of_range("no " + key);
  return found->second;
}

int main() {
  std::map<std::string, int> table;
  for (std::string word; std::cin >> word;)
    ++table[word];
  for (const auto &[word, count] : table)
    std::cout << word << '=' << count << '\n';
  try {
    checked(table, "absent");
  } catch (const std::out_of_range &error) {
    std::cout << error.what() << std::endl;
  }
  return 0;
}
