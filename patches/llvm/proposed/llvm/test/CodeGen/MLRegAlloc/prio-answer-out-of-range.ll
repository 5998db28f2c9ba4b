; REQUIRES: x86_64-linux
;
; A priority that an unsigned cannot hold is refused. Converting it would be
; undefined behavior.
;
; RUN: rm -rf %t && mkdir %t
; RUN: cp %S/../../../lib/Analysis/models/log_reader.py %t
; RUN: cp %S/../../../lib/Analysis/models/interactive_host.py %t
; RUN: cp %S/Inputs/interactive_constant.py %t
; RUN: %python %t/interactive_constant.py %t/channel nan llc -mtriple=x86_64-linux-unknown \
; RUN:   -regalloc=greedy -regalloc-enable-priority-advisor=release \
; RUN:   -regalloc-priority-interactive-channel-base=%t/channel %s -o /dev/null | FileCheck %s --check-prefix=NAN
; RUN: %python %t/interactive_constant.py %t/channel -1 llc -mtriple=x86_64-linux-unknown \
; RUN:   -regalloc=greedy -regalloc-enable-priority-advisor=release \
; RUN:   -regalloc-priority-interactive-channel-base=%t/channel %s -o /dev/null | FileCheck %s --check-prefix=BELOW
; RUN: %python %t/interactive_constant.py %t/channel 4294967296 llc -mtriple=x86_64-linux-unknown \
; RUN:   -regalloc=greedy -regalloc-enable-priority-advisor=release \
; RUN:   -regalloc-priority-interactive-channel-base=%t/channel %s -o /dev/null | FileCheck %s --check-prefix=BEYOND
; RUN: %python %t/interactive_constant.py %t/channel 4294967040 llc -mtriple=x86_64-linux-unknown \
; RUN:   -regalloc=greedy -regalloc-enable-priority-advisor=release \
; RUN:   -regalloc-priority-interactive-channel-base=%t/channel %s -o /dev/null | FileCheck %s --check-prefix=LARGEST

; NAN: LLVM ERROR: register allocation priority policy answered {{-?}}nan, which is not among the allowed numbers
; BELOW: LLVM ERROR: register allocation priority policy answered -1.000000, which is not among the allowed numbers
; BEYOND: LLVM ERROR: register allocation priority policy answered 4294967296.000000, which is not among the allowed numbers
; LARGEST: observation: 0
; LARGEST-NOT: LLVM ERROR

define i64 @f(i64 %a, i64 %b) {
  %sum = add i64 %a, %b
  ret i64 %sum
}
