; REQUIRES: x86_64-linux
;
; An answer at a position whose mask is 0, or that is no position at all, is
; refused in builds without assertions, too.
;
; RUN: rm -rf %t && mkdir %t
; RUN: cp %S/../../../lib/Analysis/models/log_reader.py %t
; RUN: cp %S/../../../lib/Analysis/models/interactive_host.py %t
; RUN: cp %S/Inputs/interactive_constant.py %t
; RUN: %python %t/interactive_constant.py %t/channel 0 llc -mtriple=x86_64-linux-unknown \
; RUN:   -regalloc=greedy -regalloc-enable-advisor=release \
; RUN:   -regalloc-evict-interactive-channel-base=%t/channel %s -o /dev/null | FileCheck %s --check-prefixes=CHECK,MASKED
; RUN: %python %t/interactive_constant.py %t/channel 40 llc -mtriple=x86_64-linux-unknown \
; RUN:   -regalloc=greedy -regalloc-enable-advisor=release \
; RUN:   -regalloc-evict-interactive-channel-base=%t/channel %s -o /dev/null | FileCheck %s --check-prefixes=CHECK,BEYOND
; RUN: %python %t/interactive_constant.py %t/channel -1 llc -mtriple=x86_64-linux-unknown \
; RUN:   -regalloc=greedy -regalloc-enable-advisor=release \
; RUN:   -regalloc-evict-interactive-channel-base=%t/channel %s -o /dev/null | FileCheck %s --check-prefixes=CHECK,BELOW

; CHECK: observation: 0
; MASKED: LLVM ERROR: register eviction policy answered 0, which is not among the allowed positions
; BEYOND: LLVM ERROR: register eviction policy answered 40, which is not among the allowed positions
; BELOW: LLVM ERROR: register eviction policy answered -1, which is not among the allowed positions
; CHECK-NOT: Stack dump

define void @f(ptr %p, i64 %n) {
entry:
  br label %loop

loop:
  %i = phi i64 [ 0, %entry ], [ %next, %loop ]
  %s0 = phi i64 [ 0, %entry ], [ %t0, %loop ]
  %s1 = phi i64 [ 0, %entry ], [ %t1, %loop ]
  %s2 = phi i64 [ 0, %entry ], [ %t2, %loop ]
  %s3 = phi i64 [ 0, %entry ], [ %t3, %loop ]
  %s4 = phi i64 [ 0, %entry ], [ %t4, %loop ]
  %s5 = phi i64 [ 0, %entry ], [ %t5, %loop ]
  %s6 = phi i64 [ 0, %entry ], [ %t6, %loop ]
  %s7 = phi i64 [ 0, %entry ], [ %t7, %loop ]
  %s8 = phi i64 [ 0, %entry ], [ %t8, %loop ]
  %s9 = phi i64 [ 0, %entry ], [ %t9, %loop ]
  %s10 = phi i64 [ 0, %entry ], [ %t10, %loop ]
  %s11 = phi i64 [ 0, %entry ], [ %t11, %loop ]
  %s12 = phi i64 [ 0, %entry ], [ %t12, %loop ]
  %s13 = phi i64 [ 0, %entry ], [ %t13, %loop ]
  %s14 = phi i64 [ 0, %entry ], [ %t14, %loop ]
  %s15 = phi i64 [ 0, %entry ], [ %t15, %loop ]
  %s16 = phi i64 [ 0, %entry ], [ %t16, %loop ]
  %s17 = phi i64 [ 0, %entry ], [ %t17, %loop ]
  %q0 = getelementptr i64, ptr %p, i64 %s0
  %l0 = load i64, ptr %q0
  %t0 = add i64 %l0, %s1
  %q1 = getelementptr i64, ptr %p, i64 %s1
  %l1 = load i64, ptr %q1
  %t1 = add i64 %l1, %s8
  %q2 = getelementptr i64, ptr %p, i64 %s2
  %l2 = load i64, ptr %q2
  %t2 = add i64 %l2, %s15
  %q3 = getelementptr i64, ptr %p, i64 %s3
  %l3 = load i64, ptr %q3
  %t3 = add i64 %l3, %s4
  %q4 = getelementptr i64, ptr %p, i64 %s4
  %l4 = load i64, ptr %q4
  %t4 = add i64 %l4, %s11
  %q5 = getelementptr i64, ptr %p, i64 %s5
  %l5 = load i64, ptr %q5
  %t5 = add i64 %l5, %s0
  %q6 = getelementptr i64, ptr %p, i64 %s6
  %l6 = load i64, ptr %q6
  %t6 = add i64 %l6, %s7
  %q7 = getelementptr i64, ptr %p, i64 %s7
  %l7 = load i64, ptr %q7
  %t7 = add i64 %l7, %s14
  %q8 = getelementptr i64, ptr %p, i64 %s8
  %l8 = load i64, ptr %q8
  %t8 = add i64 %l8, %s3
  %q9 = getelementptr i64, ptr %p, i64 %s9
  %l9 = load i64, ptr %q9
  %t9 = add i64 %l9, %s10
  %q10 = getelementptr i64, ptr %p, i64 %s10
  %l10 = load i64, ptr %q10
  %t10 = add i64 %l10, %s17
  %q11 = getelementptr i64, ptr %p, i64 %s11
  %l11 = load i64, ptr %q11
  %t11 = add i64 %l11, %s6
  %q12 = getelementptr i64, ptr %p, i64 %s12
  %l12 = load i64, ptr %q12
  %t12 = add i64 %l12, %s13
  %q13 = getelementptr i64, ptr %p, i64 %s13
  %l13 = load i64, ptr %q13
  %t13 = add i64 %l13, %s2
  %q14 = getelementptr i64, ptr %p, i64 %s14
  %l14 = load i64, ptr %q14
  %t14 = add i64 %l14, %s9
  %q15 = getelementptr i64, ptr %p, i64 %s15
  %l15 = load i64, ptr %q15
  %t15 = add i64 %l15, %s16
  %q16 = getelementptr i64, ptr %p, i64 %s16
  %l16 = load i64, ptr %q16
  %t16 = add i64 %l16, %s5
  %q17 = getelementptr i64, ptr %p, i64 %s17
  %l17 = load i64, ptr %q17
  %t17 = add i64 %l17, %s12
  %next = add i64 %i, 1
  %c = icmp ult i64 %next, %n
  br i1 %c, label %loop, label %exit

exit:
  store i64 %t0, ptr %q0
  store i64 %t1, ptr %q1
  store i64 %t2, ptr %q2
  store i64 %t3, ptr %q3
  store i64 %t4, ptr %q4
  store i64 %t5, ptr %q5
  store i64 %t6, ptr %q6
  store i64 %t7, ptr %q7
  store i64 %t8, ptr %q8
  store i64 %t9, ptr %q9
  store i64 %t10, ptr %q10
  store i64 %t11, ptr %q11
  store i64 %t12, ptr %q12
  store i64 %t13, ptr %q13
  store i64 %t14, ptr %q14
  store i64 %t15, ptr %q15
  store i64 %t16, ptr %q16
  store i64 %t17, ptr %q17
  ret void
}
