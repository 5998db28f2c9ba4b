// The part of version 1 of QEMU's interface for plugins that count_plugin.c uses (QEMU's documentation, "QEMU TCG Plugins").
// Debian's packages of QEMU bring the interface in the emulators, and no header.
#ifndef MLGO_EVALUATION_PROGRAMS_PLUGIN_QEMU_INTERFACE_H
#define MLGO_EVALUATION_PROGRAMS_PLUGIN_QEMU_INTERFACE_H

#include <stddef.h>
#include <stdint.h>

// A plugin's functions are seen by QEMU only if they are exported.
#define QEMU_EXPORT __attribute__((visibility("default")))
#define QEMU_INTERFACE_VERSION 1

typedef uint64_t qemu_plugin_id_t;
struct qemu_info;
struct qemu_plugin_tb;
struct qemu_plugin_insn;

enum qemu_plugin_mem_rw {
  QEMU_PLUGIN_MEM_RW = 3,
};

enum qemu_plugin_cb_flags {
  QEMU_PLUGIN_CB_NO_REGS = 0,
};

enum qemu_plugin_op {
  QEMU_PLUGIN_INLINE_ADD_U64 = 0,
};

typedef void (*qemu_plugin_udata_cb_t)(qemu_plugin_id_t id, void *data);
typedef void (*qemu_plugin_vcpu_simple_cb_t)(qemu_plugin_id_t id, unsigned int vcpu);
typedef uint32_t qemu_plugin_meminfo_t;
typedef void (*qemu_plugin_vcpu_mem_cb_t)(unsigned int vcpu, qemu_plugin_meminfo_t access, uint64_t address, void *data);
typedef void (*qemu_plugin_vcpu_tb_trans_cb_t)(qemu_plugin_id_t id, struct qemu_plugin_tb *block);

void qemu_plugin_register_atexit_cb(qemu_plugin_id_t id, qemu_plugin_udata_cb_t call, void *data);
void qemu_plugin_register_vcpu_init_cb(qemu_plugin_id_t id, qemu_plugin_vcpu_simple_cb_t call);
void qemu_plugin_register_vcpu_tb_trans_cb(qemu_plugin_id_t id, qemu_plugin_vcpu_tb_trans_cb_t call);
size_t qemu_plugin_tb_n_insns(const struct qemu_plugin_tb *block);
struct qemu_plugin_insn *qemu_plugin_tb_get_insn(const struct qemu_plugin_tb *block, size_t index);
void qemu_plugin_register_vcpu_insn_exec_inline(struct qemu_plugin_insn *insn, enum qemu_plugin_op op, void *counter,
                                                uint64_t amount);
void qemu_plugin_register_vcpu_mem_cb(struct qemu_plugin_insn *insn, qemu_plugin_vcpu_mem_cb_t call,
                                      enum qemu_plugin_cb_flags flags, enum qemu_plugin_mem_rw kind, void *data);
_Bool qemu_plugin_mem_is_store(qemu_plugin_meminfo_t access);

#endif
