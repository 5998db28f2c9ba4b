// A clock that stands still, for programs that give up a search after some CPU time: under Cachegrind they would give up earlier.

#include <time.h>

clock_t clock(void) { return 0; }
