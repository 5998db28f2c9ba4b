// What must not depend on where and when it is compiled: the file's own name, the date, an assertion's text.
#include <cassert>
#include <cstdio>

int main(int argc, char **) {
  assert(argc > 0);
  std::printf("%s %s %s\n", __FILE__, __DATE__, __TIME__);
}
