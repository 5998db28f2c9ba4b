#include <hidden.h>

#include "mlgo/corpus/testdata/linked/scale.h"

int NAME(int a) { return scale(a) + HIDDEN + FROM_A_DEPENDENCY; }
