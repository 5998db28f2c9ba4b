#include "tally.h"

#include <stdlib.h>
#include <string.h>

static uint64_t hashed(const char *key, size_t length) {
  uint64_t hash = 1469598103934665603u;
  while (length--) hash = (hash ^ (unsigned char)*key++) * 1099511628211u;
  return hash ^ hash >> 29;
}

static struct Slot *found(struct Slot *slots, size_t room, const char *key, size_t length) {
  size_t at = hashed(key, length) & (room - 1);
  while (slots[at].key && (strncmp(slots[at].key, key, length) || slots[at].key[length])) at = (at + 1) & (room - 1);
  return &slots[at];
}

static void grow(Map *map) {
  size_t room = map->room ? 2 * map->room : 16;
  struct Slot *slots = calloc(room, sizeof *slots);
  if (!slots) abort();
  for (size_t i = 0; i < map->room; ++i)
    if (map->slots[i].key) *found(slots, room, map->slots[i].key, strlen(map->slots[i].key)) = map->slots[i];
  free(map->slots);
  map->slots = slots;
  map->room = room;
}

double *map_at(Map *map, const char *key, size_t length) {
  if (4 * map->count >= 3 * map->room) grow(map);
  struct Slot *slot = found(map->slots, map->room, key, length);
  if (!slot->key) {
    if (!(slot->key = malloc(length + 1))) abort();
    memcpy(slot->key, key, length);
    slot->key[length] = 0;
    ++map->count;
  }
  return &slot->value;
}

void map_free(Map *map) {
  for (size_t i = 0; i < map->room; ++i) free(map->slots[i].key);
  free(map->slots);
}
