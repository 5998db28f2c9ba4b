#include "tally.h"

#include <string.h>

static void quoted(String *text, const char *bytes) {
  string_put(text, '"');
  for (; *bytes; ++bytes) {
    if (*bytes == '"' || *bytes == '\\') string_put(text, '\\');
    string_put(text, *bytes);
  }
  string_put(text, '"');
}

void json_print(const Map *map, String *text) {
  const char *between = "{";
  for (size_t i = 0; i < map->room; ++i) {
    if (!map->slots[i].key) continue;
    string_add(text, between, strlen(between));
    quoted(text, map->slots[i].key);
    string_add(text, ": ", 2);
    string_format(text, map->slots[i].value);
    between = ", ";
  }
  string_add(text, *between == '{' ? "{}" : "}", *between == '{' ? 2 : 1);
}

static const char *skipped(const char *at) { return at + strspn(at, " \t\n\r"); }

static const char *expected(const char *at, char symbol) {
  at = at ? skipped(at) : at;
  return at && *at == symbol ? at + 1 : NULL;
}

static const char *name(const char *at, String *key) {
  at = expected(at, '"');
  for (; at && *at && *at != '"'; ++at) {
    if (*at == '\\' && at[1]) ++at;
    string_put(key, *at);
  }
  return at && *at == '"' ? at + 1 : NULL;
}

int json_parse(const char *text, Map *map) {
  const char *at = expected(text, '{');
  while (at && *(at = skipped(at)) != '}') {
    String key = {0};
    at = expected(name(at, &key), ':');
    if (at) {
      const char *end;
      double value = number_parse(skipped(at), &end);
      if (end == skipped(at)) at = NULL;
      else *map_at(map, key.data ? key.data : "", key.length) += value, at = skipped(end);
    }
    string_free(&key);
    if (at && *at == ',') ++at;
    else if (at && *at != '}') at = NULL;
  }
  return at != NULL;
}
