#ifndef CHECKSUM_H_
#define CHECKSUM_H_

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

// FNV-1a of `size` bytes.
uint32_t checksum(const void *data, size_t size);

#ifdef __cplusplus
}
#endif

#endif  // CHECKSUM_H_
