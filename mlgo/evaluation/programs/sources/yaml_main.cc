// Writes a document of some hundred entries, reads it again, walks through it, and meets a few that are broken: the exceptions count.
#include <cstdio>
#include <cstdlib>
#include <string>

#include "yaml-cpp/yaml.h"

namespace {

std::string Document(int entries) {
  YAML::Emitter out;
  out << YAML::BeginMap << YAML::Key << "entries" << YAML::Value << YAML::BeginSeq;
  for (int index = 0; index < entries; ++index) {
    out << YAML::BeginMap << YAML::Key << "name" << YAML::Value << "entry " + std::to_string(index) << YAML::Key << "size"
        << YAML::Value << index * 37 % 101 << YAML::Key << "share" << YAML::Value << index / 8.0 << YAML::Key << "tags" << YAML::Value
        << YAML::Flow << YAML::BeginSeq << "a" << index % 7 << true << YAML::EndSeq << YAML::Key << "note" << YAML::Value
        << YAML::Literal << "first line\nsecond: line" << YAML::EndMap;
  }
  out << YAML::EndSeq << YAML::EndMap;
  return out.c_str();
}

size_t Depth(const YAML::Node& node) {
  size_t deepest = 0;
  if (node.IsSequence()) {
    for (const auto& item : node) deepest = std::max(deepest, Depth(item));
  } else if (node.IsMap()) {
    for (const auto& pair : node) deepest = std::max(deepest, Depth(pair.second));
  }
  return deepest + 1;
}

}  // namespace

int main(int argc, char** argv) {
  const int entries = argc > 1 ? std::atoi(argv[1]) : 100;
  const std::string text = Document(entries);
  const YAML::Node root = YAML::Load(text);
  long sizes = 0;
  double shares = 0;
  size_t letters = 0;
  for (const auto& entry : root["entries"]) {
    sizes += entry["size"].as<int>();
    shares += entry["share"].as<double>();
    letters += entry["name"].as<std::string>().size() + entry["note"].as<std::string>().size();
    if (entry["tags"].size() != 3 || entry["missing"]) return 1;
  }
  std::printf("%zu bytes, depth %zu, %ld, %.3f, %zu letters\n", text.size(), Depth(root), sizes, shares, letters);

  int refused = 0;
  for (int index = 0; index < entries; ++index) {
    try {
      refused += static_cast<int>(root["entries"][index]["name"].as<int>());
    } catch (const YAML::BadConversion& error) {
      ++refused;
    }
    try {
      YAML::Load("a: [1, 2\nb: {" + std::to_string(index));
    } catch (const YAML::ParserException& error) {
      refused += error.mark.line;
    }
  }
  std::printf("refused: %d\n", refused);

  const YAML::Node shared = YAML::Load("base: &base {x: 1, y: [2, 3]}\nother: *base\n--- \nnext: document\n");
  std::printf("alias: %d\n", shared["other"]["y"][1].as<int>());
  return 0;
}
