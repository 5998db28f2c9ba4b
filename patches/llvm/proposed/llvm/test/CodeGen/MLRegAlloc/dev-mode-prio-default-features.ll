; REQUIRES: have_tflite
; REQUIRES: x86_64-linux
;
; A log of the default priorities has the features of the live range, as a log
; of a model's priorities has.
;
; RUN: llc -o /dev/null -mtriple=x86_64-linux-unknown -regalloc=greedy \
; RUN:   -regalloc-enable-priority-advisor=development \
; RUN:   -regalloc-priority-training-log=%t < %s
; RUN: %python %S/../../../lib/Analysis/models/log_reader.py %t | FileCheck %s

; CHECK-LABEL: observation: 0
; CHECK-NEXT: li_size: {{[1-9][0-9]*}}
; CHECK-NEXT: stage: {{[0-9]+}}
; CHECK-NEXT: weight: {{0\.0*[1-9]|[1-9]|inf}}

define i64 @f(i64 %a, i64 %b) {
  %sum = add i64 %a, %b
  ret i64 %sum
}
