#include "tally.h"

static int letter(unsigned value) {
  if (value < 26) return 'A' + (int)value;
  if (value < 52) return 'a' + (int)value - 26;
  if (value < 62) return '0' + (int)value - 52;
  return value == 62 ? '+' : '/';
}

void encoding_base64(const unsigned char *bytes, size_t length, String *text) {
  for (size_t i = 0; i < length; i += 3) {
    unsigned group = (unsigned)bytes[i] << 16;
    if (i + 1 < length) group |= (unsigned)bytes[i + 1] << 8;
    if (i + 2 < length) group |= bytes[i + 2];
    string_put(text, letter(group >> 18 & 63));
    string_put(text, letter(group >> 12 & 63));
    string_put(text, i + 1 < length ? letter(group >> 6 & 63) : '=');
    string_put(text, i + 2 < length ? letter(group & 63) : '=');
  }
}

static int following(unsigned char first) {
  return first < 0x80 ? 0 : first >= 0xf0 ? 3 : first >= 0xe0 ? 2 : first >= 0xc0 ? 1 : -1;
}

size_t encoding_utf8(const char *text, size_t length, uint32_t *points) {
  size_t count = 0;
  for (size_t i = 0; i < length;) {
    unsigned char first = (unsigned char)text[i++];
    int more = following(first);
    uint32_t point = more < 0 ? 0xfffd : more ? first & (0x3fu >> more) : first;
    for (; more > 0 && i < length && ((unsigned char)text[i] & 0xc0) == 0x80; --more)
      point = point << 6 | ((unsigned char)text[i++] & 0x3f);
    points[count++] = more > 0 ? 0xfffd : point;
  }
  return count;
}
