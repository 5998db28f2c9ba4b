/* Counts the words of standard input, and prints the most frequent and a digest. */
#include "tally.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void count_words(const String *text, Map *words) {
  for (size_t i = 0; i < text->length;) {
    size_t begin = i;
    while (i < text->length && isalpha((unsigned char)text->data[i])) ++i;
    if (i > begin) *map_at(words, text->data + begin, i - begin) += 1;
    else ++i;
  }
}

int main(int argc, char **argv) {
  if (argc > 1 && !strcmp(argv[1], "--version")) return puts("tally " TALLY_VERSION) < 0;
  String text = {0}, json = {0}, code = {0};
  char part[4096];
  for (size_t count; (count = fread(part, 1, sizeof part, stdin));) string_add(&text, part, count);
  if (!text.length) return fputs("tally: no input\n", stderr), 2;
  Map words = {0}, again = {0};
  for (int turn = 0; turn < 20; ++turn) count_words(&text, &words);
  Heap heap = {0};
  for (size_t i = 0; i < words.room; ++i)
    if (words.slots[i].key) heap_push(&heap, (Entry){-words.slots[i].value, (int)i});
  for (int i = 0; i < 5 && heap.count; ++i) {
    Entry entry = heap_pop(&heap);
    printf("%6.0f %s\n", -entry.priority, words.slots[entry.item].key);
  }
  json_print(&words, &json);
  uint32_t *points = malloc((text.length + 1) * sizeof *points), digest[8];
  checksum_mix((const unsigned char *)json.data, json.length, digest);
  encoding_base64((const unsigned char *)digest, sizeof digest, &code);
  printf("%zu characters, %d, %08x, %s\n", encoding_utf8(text.data, text.length, points), json_parse(json.data, &again),
         checksum_crc((const unsigned char *)text.data, text.length), code.data);
  free(points);
  free(heap.entries);
  map_free(&words);
  map_free(&again);
  string_free(&text);
  string_free(&json);
  string_free(&code);
}
