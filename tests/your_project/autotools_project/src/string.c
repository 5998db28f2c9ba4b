#include "tally.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void reserve(String *string, size_t room) {
  if (room <= string->room) return;
  string->room = room < 32 ? 32 : room + room / 2;
  if (!(string->data = realloc(string->data, string->room))) abort();
}

void string_add(String *string, const char *bytes, size_t length) {
  reserve(string, string->length + length + 1);
  memcpy(string->data + string->length, bytes, length);
  string->length += length;
  string->data[string->length] = 0;
}

void string_put(String *string, int byte) {
  char one = (char)byte;
  string_add(string, &one, 1);
}

void string_format(String *string, double value) {
  char digits[32];
  int length = snprintf(digits, sizeof digits, "%.6g", value);
  string_add(string, digits, (size_t)length);
}

void string_free(String *string) { free(string->data); }
