#include "mlgo/corpus/testdata/linked/scale.h"

extern "C" int NAME(int a) { return scale(a); }

int main(int argc, char **) { return NAME(argc); }
