// A program of this toolchain: C++17 library, threads, exceptions, file system.
#include <cmath>
#include <cstdio>
#include <filesystem>
#include <stdexcept>
#include <thread>

int main() {
  double root = 0;
  std::thread([&root] { root = std::sqrt(2.0); }).join();
  try {
    throw std::runtime_error("caught");
  } catch (const std::exception&) {
    return std::filesystem::exists("/") && root > 1.41 && root < 1.42 ? 0 : 1;
  }
  return 3;
}
