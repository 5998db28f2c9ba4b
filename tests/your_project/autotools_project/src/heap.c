#include "tally.h"

#include <stdlib.h>

static int before(Entry a, Entry b) { return a.priority < b.priority || (a.priority == b.priority && a.item < b.item); }

void heap_push(Heap *heap, Entry entry) {
  if (heap->count == heap->room) {
    heap->room = heap->room ? 2 * heap->room : 16;
    heap->entries = realloc(heap->entries, heap->room * sizeof(Entry));
    if (!heap->entries) abort();
  }
  size_t at = heap->count++;
  for (; at && before(entry, heap->entries[(at - 1) / 2]); at = (at - 1) / 2)
    heap->entries[at] = heap->entries[(at - 1) / 2];
  heap->entries[at] = entry;
}

Entry heap_pop(Heap *heap) {
  Entry first = heap->entries[0], last = heap->entries[--heap->count];
  size_t at = 0;
  for (size_t child = 1; child < heap->count; child = 2 * at + 1) {
    if (child + 1 < heap->count && before(heap->entries[child + 1], heap->entries[child])) ++child;
    if (!before(heap->entries[child], last)) break;
    heap->entries[at] = heap->entries[child];
    at = child;
  }
  heap->entries[at] = last;
  return first;
}
