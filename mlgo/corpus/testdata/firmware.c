/* What a C library without an operating system offers. */
#include <errno.h>
#include <stdio.h>
#include <string.h>

static int checked(int length) {
  if (length < 0) errno = EINVAL;
  return length;
}

int say(char *to, const char *what, int number) { return checked(sprintf(to, "%s %d", what, number)); }

int same(const char *left, const char *right) { return checked((int)strlen(left)) >= 0 && !strcmp(left, right); }
