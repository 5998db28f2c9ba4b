.text
.globl low
low:
  ret
