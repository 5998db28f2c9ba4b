// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// What archives that were compiled with a newer glibc and libstdc++ than Debian
// 12's ask for besides what these have. third_party/debian/older_glibc.py does
// the same for the packaged programs.

#include <cstdarg>
#include <cstdio>
#include <cstdlib>
#include <ios>

// C23's functions also read binary literals, where the base is 0 or 2.
extern "C" {

long __isoc23_strtol(const char *Text, char **End, int Base) {
  return std::strtol(Text, End, Base);
}

long long __isoc23_strtoll(const char *Text, char **End, int Base) {
  return std::strtoll(Text, End, Base);
}

unsigned long __isoc23_strtoul(const char *Text, char **End, int Base) {
  return std::strtoul(Text, End, Base);
}

unsigned long long __isoc23_strtoull(const char *Text, char **End, int Base) {
  return std::strtoull(Text, End, Base);
}

int __isoc23_scanf(const char *Format, ...) {
  va_list Arguments;
  va_start(Arguments, Format);
  const int Count = std::vscanf(Format, Arguments);
  va_end(Arguments);
  return Count;
}

int __isoc23_sscanf(const char *Text, const char *Format, ...) {
  va_list Arguments;
  va_start(Arguments, Format);
  const int Count = std::vsscanf(Text, Format, Arguments);
  va_end(Arguments);
  return Count;
}

} // extern "C"

namespace {

// An older libstdc++ opens cout and the other streams when a unit asks for it;
// a newer one does so by itself.
__attribute__((init_priority(101))) std::ios_base::Init OpenStreams;

} // namespace

namespace std {

// By it a unit says that it needs such a newer libstdc++.
void ios_base_library_init() {}

} // namespace std
