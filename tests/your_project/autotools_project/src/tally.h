/* Counting and transforming: what the modules of the library share. */
#ifndef TALLY_H
#define TALLY_H

#include "config.h"

#include <stddef.h>
#ifdef HAVE_STDINT_H
#include <stdint.h>
#endif

typedef struct {
  char *data;
  size_t length, room;
} String;
void string_add(String *string, const char *bytes, size_t length);
void string_put(String *string, int byte);
void string_format(String *string, double value);
void string_free(String *string);

typedef struct {
  struct Slot {
    char *key;
    double value;
  } *slots;
  size_t count, room;
} Map;
double *map_at(Map *map, const char *key, size_t length);
void map_free(Map *map);

typedef struct {
  double priority;
  int item;
} Entry;
typedef struct {
  Entry *entries;
  size_t count, room;
} Heap;
void heap_push(Heap *heap, Entry entry);
Entry heap_pop(Heap *heap);

typedef struct {
  uint64_t state[2];
} Random;
uint64_t random_next(Random *random);
double random_uniform(Random *random);
double random_normal(Random *random);

int bits_count(const uint64_t *words, size_t length);
void bits_transpose(uint64_t block[64]);
uint32_t checksum_crc(const unsigned char *bytes, size_t length);
void checksum_mix(const unsigned char *bytes, size_t length, uint32_t digest[8]);
void encoding_base64(const unsigned char *bytes, size_t length, String *text);
size_t encoding_utf8(const char *text, size_t length, uint32_t *points);
void json_print(const Map *map, String *text);
int json_parse(const char *text, Map *map);
void matrix_multiply(const double *a, const double *b, double *result, int size);
int matrix_solve(double *a, double *x, int size);
double number_parse(const char *text, const char **end);
uint64_t number_power(uint64_t base, uint64_t exponent, uint64_t modulus);
uint64_t number_divisor(uint64_t number);
void sort_doubles(double *values, size_t count);
void sort_texts(const char **texts, size_t count);
void spectrum_transform(double *real, double *imaginary, int size, int inverse);
void spectrum_filter(const double *signal, const double *kernel, double *result, int size, int taps);
double statistics_quantile(const double *sorted, size_t count, double share);
void statistics_moments(const double *values, size_t count, double moments[4]);
double statistics_slope(const double *x, const double *y, size_t count);
double units_metres(double value, const char *unit);

#endif
