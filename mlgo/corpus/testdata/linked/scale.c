#include "mlgo/corpus/testdata/linked/scale.h"

static const int table[] = {
#include "mlgo/corpus/testdata/linked/table.inc"
};

int NAME(int a) { return scale(a) + table[a & 3]; }

int scale(int a) { return a * SCALE; }
