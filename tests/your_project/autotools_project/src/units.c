#include "tally.h"

#include <string.h>

static const struct {
  const char *name;
  double metres;
} units[] = {
#include "units.h"
};

static int named(const char *unit, const char *name) {
  size_t length = strlen(name);
  return !strncmp(unit, name, length) && (!unit[length] || !strcmp(unit + length, "s"));
}

double units_metres(double value, const char *unit) {
  for (size_t i = 0; i < sizeof units / sizeof *units; ++i)
    if (named(unit, units[i].name)) return value * units[i].metres;
  return -1;
}
