// A program without a C library: 3 instructions, 1000 iterations of 6 instructions with 1 load and 2 stores, 3 instructions.
  .global _start
#if defined(__aarch64__)
_start:
  adrp x1, word
  add x1, x1, :lo12:word
  mov x0, #1000
again:
  ldr x2, [x1]
  add x2, x2, #1
  str x2, [x1]
  str x2, [x1, #8]
  subs x0, x0, #1
  b.ne again
  mov x0, #0
  mov x8, #93
  svc #0
#elif defined(__thumb__)
  .syntax unified
  .thumb
  .thumb_func
_start:
  movw r1, #:lower16:word
  movt r1, #:upper16:word
  movw r0, #1000
again:
  ldr r2, [r1]
  adds r2, r2, #1
  str r2, [r1]
  str r2, [r1, #8]
  subs r0, r0, #1
  bne again
  movs r0, #0
  movs r7, #1
  svc #0
#elif defined(__riscv)
  .option norvc
  .option norelax
_start:
  lui a1, %hi(word)
  addi a1, a1, %lo(word)
  li a0, 1000
again:
  ld a2, 0(a1)
  addi a2, a2, 1
  sd a2, 0(a1)
  sd a2, 8(a1)
  addi a0, a0, -1
  bnez a0, again
  li a0, 0
  li a7, 93
  ecall
#else
#error "a target without a program"
#endif
  .bss
  .balign 16
word:
  .skip 16
  .section .note.GNU-stack, "", %progbits
