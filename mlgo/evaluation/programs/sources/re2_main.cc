// Matches a fixed set of patterns against a file, line by line and as a whole, and prints how often each is found.
#include <cstdio>
#include <fstream>
#include <iostream>
#include <sstream>
#include <string>
#include <vector>

#include "re2/re2.h"
#include "re2/set.h"

namespace {

const char* const kPatterns[] = {
    "\\b[A-Z][A-Za-z0-9_]*::[a-z]\\w*",
    "^\\s*(if|while|for)\\s*\\((.*)\\)",
    "(?i)todo|fixme|bug",
    "(\\w+)\\s*=\\s*(-?[0-9]+|\\w+);",
    "\"([^\"\\\\]|\\\\.)*\"",
    "[[:alpha:]]+_[[:alpha:]]+_$",
    "(a|b|c|d)*e+(f|g)?",
    "\\p{Lu}\\p{Ll}{3,8}",
    "//.*(the|and|of).*(the|and|of)",
};

std::string ReadFile(const char* path) {
  std::ifstream file(path, std::ios::binary);
  std::ostringstream content;
  content << file.rdbuf();
  return content.str();
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2) return 2;
  const std::string text = ReadFile(argv[1]);
  std::vector<std::string> lines;
  std::istringstream stream(text);
  for (std::string line; std::getline(stream, line);) lines.push_back(line);

  RE2::Set set(RE2::DefaultOptions, RE2::UNANCHORED);
  for (const char* pattern : kPatterns) {
    const RE2 expression(pattern);
    if (!expression.ok() || set.Add(pattern, nullptr) < 0) return 1;
    size_t matching = 0, captured = 0;
    std::string first;
    for (const std::string& line : lines) {
      if (!RE2::PartialMatch(line, expression)) continue;
      ++matching;
      if (expression.NumberOfCapturingGroups() > 0 && RE2::PartialMatch(line, expression, &first)) captured += first.size();
    }
    std::string replaced = text;
    const int replacements = RE2::GlobalReplace(&replaced, expression, "<\\0>");
    std::printf("%s: %zu lines, %zu captured, %d replaced, %zu bytes\n", pattern, matching, captured, replacements, replaced.size());
  }
  if (!set.Compile()) return 1;
  size_t hits = 0;
  std::vector<int> found;
  for (const std::string& line : lines) {
    if (set.Match(line, &found)) hits += found.size();
  }
  std::printf("set: %zu in %zu lines\n", hits, lines.size());
  return 0;
}
