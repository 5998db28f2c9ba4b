// A plugin of QEMU's user mode: counts the instructions, loads and stores that a program executes, and writes the counts when it exits.
//
//   qemu-aarch64 -plugin libcount_plugin.so,out=FILE PROGRAM
//
// FILE has the lines "instructions N", "loads N", "stores N", "threads N". A load or store is one access as QEMU makes it: an
// instruction that loads a pair of registers makes two, and an atomic update is one store.
// The counters are not synchronised: with more than one thread, counts are not exact.
#include "qemu_interface.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

QEMU_EXPORT int qemu_plugin_version = QEMU_INTERFACE_VERSION;

static uint64_t instructions, loads, stores, threads;
static const char *out;
static pid_t started;

static void count_thread(qemu_plugin_id_t id, unsigned int vcpu) {
  (void)id, (void)vcpu;
  __atomic_fetch_add(&threads, 1, __ATOMIC_RELAXED);
}

static void count_access(unsigned int vcpu, qemu_plugin_meminfo_t access, uint64_t address, void *data) {
  (void)vcpu, (void)address, (void)data;
  ++*(qemu_plugin_mem_is_store(access) ? &stores : &loads);
}

// Called once for each block of code, when QEMU translates it. What is added here runs with each execution.
static void count_block(qemu_plugin_id_t id, struct qemu_plugin_tb *block) {
  (void)id;
  for (size_t index = 0; index < qemu_plugin_tb_n_insns(block); ++index) {
    // Each instruction by itself and not the block's number: a block can be left in the middle.
    struct qemu_plugin_insn *insn = qemu_plugin_tb_get_insn(block, index);
    qemu_plugin_register_vcpu_insn_exec_inline(insn, QEMU_PLUGIN_INLINE_ADD_U64, &instructions, 1);
    // A call and not an inline addition: QEMU 7.2 confuses loads and stores in those (it counts stores as loads, and both as stores).
    qemu_plugin_register_vcpu_mem_cb(insn, count_access, QEMU_PLUGIN_CB_NO_REGS, QEMU_PLUGIN_MEM_RW, NULL);
  }
}

static void write_counts(qemu_plugin_id_t id, void *data) {
  (void)id, (void)data;
  if (getpid() != started) // A forked child, whose counts are not the program's.
    return;
  FILE *file = fopen(out, "w");
  if (file == NULL) {
    fprintf(stderr, "count_plugin: %s cannot be written. Give out= of a file in a folder that can.\n", out);
    return;
  }
  fprintf(file, "instructions %" PRIu64 "\nloads %" PRIu64 "\nstores %" PRIu64 "\nthreads %" PRIu64 "\n", instructions,
          loads, stores, threads);
  if (fclose(file) != 0)
    fprintf(stderr, "count_plugin: %s was not written completely. Look for free space.\n", out);
}

// QEMU ends with an error when this does not return 0.
QEMU_EXPORT int qemu_plugin_install(qemu_plugin_id_t id, const struct qemu_info *info, int count, char **words) {
  (void)info;
  for (int index = 0; index < count; ++index) {
    if (strncmp(words[index], "out=", 4) == 0 && words[index][4] != '\0') {
      out = strdup(words[index] + 4);
    } else {
      fprintf(stderr, "count_plugin: %s is not an option of this plugin. Give out=FILE.\n", words[index]);
      return -1;
    }
  }
  if (out == NULL) {
    fprintf(stderr, "count_plugin: the file for the counts is not given. Give out=FILE.\n");
    return -1;
  }
  started = getpid();
  qemu_plugin_register_vcpu_init_cb(id, count_thread);
  qemu_plugin_register_vcpu_tb_trans_cb(id, count_block);
  qemu_plugin_register_atexit_cb(id, write_counts, NULL);
  return 0;
}
