#include "checksum.h"

uint32_t checksum(const void *data, size_t size) {
  const unsigned char *bytes = (const unsigned char *)data;
  uint32_t hash = 2166136261u;
  for (size_t i = 0; i < size; ++i) hash = (hash ^ bytes[i]) * 16777619u;
  return hash;
}
