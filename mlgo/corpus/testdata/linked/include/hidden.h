#define HIDDEN 5
