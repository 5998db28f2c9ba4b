; REQUIRES: powerpc-registered-target
;
; The model has 32 positions for candidates. Where the allocation order is
; longer (64 VSX registers here), the default advisor decides: the model could
; not choose among all candidates, and features must not be written beyond the
; last position.
;
; RUN: rm -rf %t && mkdir %t
; RUN: cp %S/../../../lib/Analysis/models/log_reader.py %t
; RUN: cp %S/../../../lib/Analysis/models/interactive_host.py %t
; RUN: cp %S/Inputs/interactive_constant.py %t
; RUN: %python %t/interactive_constant.py %t/channel 32 llc -mtriple=powerpc64le-unknown-linux-gnu \
; RUN:   -mcpu=pwr9 -regalloc=greedy -regalloc-enable-advisor=release \
; RUN:   -regalloc-evict-interactive-channel-base=%t/channel %s -o %t/asked.s | FileCheck %s --allow-empty
; RUN: llc -mtriple=powerpc64le-unknown-linux-gnu -mcpu=pwr9 -regalloc=greedy %s -o %t/default.s
; RUN: diff %t/default.s %t/asked.s

; CHECK-NOT: observation:
; CHECK-NOT: ERROR

define void @f(ptr %p, i64 %n) {
entry:
  br label %loop

loop:
  %i = phi i64 [ 0, %entry ], [ %next, %loop ]
  %s0 = phi <2 x double> [ zeroinitializer, %entry ], [ %t0, %loop ]
  %s1 = phi <2 x double> [ zeroinitializer, %entry ], [ %t1, %loop ]
  %s2 = phi <2 x double> [ zeroinitializer, %entry ], [ %t2, %loop ]
  %s3 = phi <2 x double> [ zeroinitializer, %entry ], [ %t3, %loop ]
  %s4 = phi <2 x double> [ zeroinitializer, %entry ], [ %t4, %loop ]
  %s5 = phi <2 x double> [ zeroinitializer, %entry ], [ %t5, %loop ]
  %s6 = phi <2 x double> [ zeroinitializer, %entry ], [ %t6, %loop ]
  %s7 = phi <2 x double> [ zeroinitializer, %entry ], [ %t7, %loop ]
  %s8 = phi <2 x double> [ zeroinitializer, %entry ], [ %t8, %loop ]
  %s9 = phi <2 x double> [ zeroinitializer, %entry ], [ %t9, %loop ]
  %s10 = phi <2 x double> [ zeroinitializer, %entry ], [ %t10, %loop ]
  %s11 = phi <2 x double> [ zeroinitializer, %entry ], [ %t11, %loop ]
  %s12 = phi <2 x double> [ zeroinitializer, %entry ], [ %t12, %loop ]
  %s13 = phi <2 x double> [ zeroinitializer, %entry ], [ %t13, %loop ]
  %s14 = phi <2 x double> [ zeroinitializer, %entry ], [ %t14, %loop ]
  %s15 = phi <2 x double> [ zeroinitializer, %entry ], [ %t15, %loop ]
  %s16 = phi <2 x double> [ zeroinitializer, %entry ], [ %t16, %loop ]
  %s17 = phi <2 x double> [ zeroinitializer, %entry ], [ %t17, %loop ]
  %s18 = phi <2 x double> [ zeroinitializer, %entry ], [ %t18, %loop ]
  %s19 = phi <2 x double> [ zeroinitializer, %entry ], [ %t19, %loop ]
  %s20 = phi <2 x double> [ zeroinitializer, %entry ], [ %t20, %loop ]
  %s21 = phi <2 x double> [ zeroinitializer, %entry ], [ %t21, %loop ]
  %s22 = phi <2 x double> [ zeroinitializer, %entry ], [ %t22, %loop ]
  %s23 = phi <2 x double> [ zeroinitializer, %entry ], [ %t23, %loop ]
  %s24 = phi <2 x double> [ zeroinitializer, %entry ], [ %t24, %loop ]
  %s25 = phi <2 x double> [ zeroinitializer, %entry ], [ %t25, %loop ]
  %s26 = phi <2 x double> [ zeroinitializer, %entry ], [ %t26, %loop ]
  %s27 = phi <2 x double> [ zeroinitializer, %entry ], [ %t27, %loop ]
  %s28 = phi <2 x double> [ zeroinitializer, %entry ], [ %t28, %loop ]
  %s29 = phi <2 x double> [ zeroinitializer, %entry ], [ %t29, %loop ]
  %s30 = phi <2 x double> [ zeroinitializer, %entry ], [ %t30, %loop ]
  %s31 = phi <2 x double> [ zeroinitializer, %entry ], [ %t31, %loop ]
  %s32 = phi <2 x double> [ zeroinitializer, %entry ], [ %t32, %loop ]
  %s33 = phi <2 x double> [ zeroinitializer, %entry ], [ %t33, %loop ]
  %s34 = phi <2 x double> [ zeroinitializer, %entry ], [ %t34, %loop ]
  %s35 = phi <2 x double> [ zeroinitializer, %entry ], [ %t35, %loop ]
  %s36 = phi <2 x double> [ zeroinitializer, %entry ], [ %t36, %loop ]
  %s37 = phi <2 x double> [ zeroinitializer, %entry ], [ %t37, %loop ]
  %s38 = phi <2 x double> [ zeroinitializer, %entry ], [ %t38, %loop ]
  %s39 = phi <2 x double> [ zeroinitializer, %entry ], [ %t39, %loop ]
  %s40 = phi <2 x double> [ zeroinitializer, %entry ], [ %t40, %loop ]
  %s41 = phi <2 x double> [ zeroinitializer, %entry ], [ %t41, %loop ]
  %s42 = phi <2 x double> [ zeroinitializer, %entry ], [ %t42, %loop ]
  %s43 = phi <2 x double> [ zeroinitializer, %entry ], [ %t43, %loop ]
  %s44 = phi <2 x double> [ zeroinitializer, %entry ], [ %t44, %loop ]
  %s45 = phi <2 x double> [ zeroinitializer, %entry ], [ %t45, %loop ]
  %s46 = phi <2 x double> [ zeroinitializer, %entry ], [ %t46, %loop ]
  %s47 = phi <2 x double> [ zeroinitializer, %entry ], [ %t47, %loop ]
  %s48 = phi <2 x double> [ zeroinitializer, %entry ], [ %t48, %loop ]
  %s49 = phi <2 x double> [ zeroinitializer, %entry ], [ %t49, %loop ]
  %s50 = phi <2 x double> [ zeroinitializer, %entry ], [ %t50, %loop ]
  %s51 = phi <2 x double> [ zeroinitializer, %entry ], [ %t51, %loop ]
  %s52 = phi <2 x double> [ zeroinitializer, %entry ], [ %t52, %loop ]
  %s53 = phi <2 x double> [ zeroinitializer, %entry ], [ %t53, %loop ]
  %s54 = phi <2 x double> [ zeroinitializer, %entry ], [ %t54, %loop ]
  %s55 = phi <2 x double> [ zeroinitializer, %entry ], [ %t55, %loop ]
  %s56 = phi <2 x double> [ zeroinitializer, %entry ], [ %t56, %loop ]
  %s57 = phi <2 x double> [ zeroinitializer, %entry ], [ %t57, %loop ]
  %s58 = phi <2 x double> [ zeroinitializer, %entry ], [ %t58, %loop ]
  %s59 = phi <2 x double> [ zeroinitializer, %entry ], [ %t59, %loop ]
  %s60 = phi <2 x double> [ zeroinitializer, %entry ], [ %t60, %loop ]
  %s61 = phi <2 x double> [ zeroinitializer, %entry ], [ %t61, %loop ]
  %s62 = phi <2 x double> [ zeroinitializer, %entry ], [ %t62, %loop ]
  %s63 = phi <2 x double> [ zeroinitializer, %entry ], [ %t63, %loop ]
  %s64 = phi <2 x double> [ zeroinitializer, %entry ], [ %t64, %loop ]
  %s65 = phi <2 x double> [ zeroinitializer, %entry ], [ %t65, %loop ]
  %s66 = phi <2 x double> [ zeroinitializer, %entry ], [ %t66, %loop ]
  %s67 = phi <2 x double> [ zeroinitializer, %entry ], [ %t67, %loop ]
  %s68 = phi <2 x double> [ zeroinitializer, %entry ], [ %t68, %loop ]
  %s69 = phi <2 x double> [ zeroinitializer, %entry ], [ %t69, %loop ]
  %q0 = getelementptr <2 x double>, ptr %p, i64 0
  %l0 = load <2 x double>, ptr %q0
  %t0 = fadd <2 x double> %l0, %s1
  %q1 = getelementptr <2 x double>, ptr %p, i64 1
  %l1 = load <2 x double>, ptr %q1
  %t1 = fadd <2 x double> %l1, %s8
  %q2 = getelementptr <2 x double>, ptr %p, i64 2
  %l2 = load <2 x double>, ptr %q2
  %t2 = fadd <2 x double> %l2, %s15
  %q3 = getelementptr <2 x double>, ptr %p, i64 3
  %l3 = load <2 x double>, ptr %q3
  %t3 = fadd <2 x double> %l3, %s22
  %q4 = getelementptr <2 x double>, ptr %p, i64 4
  %l4 = load <2 x double>, ptr %q4
  %t4 = fadd <2 x double> %l4, %s29
  %q5 = getelementptr <2 x double>, ptr %p, i64 5
  %l5 = load <2 x double>, ptr %q5
  %t5 = fadd <2 x double> %l5, %s36
  %q6 = getelementptr <2 x double>, ptr %p, i64 6
  %l6 = load <2 x double>, ptr %q6
  %t6 = fadd <2 x double> %l6, %s43
  %q7 = getelementptr <2 x double>, ptr %p, i64 7
  %l7 = load <2 x double>, ptr %q7
  %t7 = fadd <2 x double> %l7, %s50
  %q8 = getelementptr <2 x double>, ptr %p, i64 8
  %l8 = load <2 x double>, ptr %q8
  %t8 = fadd <2 x double> %l8, %s57
  %q9 = getelementptr <2 x double>, ptr %p, i64 9
  %l9 = load <2 x double>, ptr %q9
  %t9 = fadd <2 x double> %l9, %s64
  %q10 = getelementptr <2 x double>, ptr %p, i64 10
  %l10 = load <2 x double>, ptr %q10
  %t10 = fadd <2 x double> %l10, %s1
  %q11 = getelementptr <2 x double>, ptr %p, i64 11
  %l11 = load <2 x double>, ptr %q11
  %t11 = fadd <2 x double> %l11, %s8
  %q12 = getelementptr <2 x double>, ptr %p, i64 12
  %l12 = load <2 x double>, ptr %q12
  %t12 = fadd <2 x double> %l12, %s15
  %q13 = getelementptr <2 x double>, ptr %p, i64 13
  %l13 = load <2 x double>, ptr %q13
  %t13 = fadd <2 x double> %l13, %s22
  %q14 = getelementptr <2 x double>, ptr %p, i64 14
  %l14 = load <2 x double>, ptr %q14
  %t14 = fadd <2 x double> %l14, %s29
  %q15 = getelementptr <2 x double>, ptr %p, i64 15
  %l15 = load <2 x double>, ptr %q15
  %t15 = fadd <2 x double> %l15, %s36
  %q16 = getelementptr <2 x double>, ptr %p, i64 16
  %l16 = load <2 x double>, ptr %q16
  %t16 = fadd <2 x double> %l16, %s43
  %q17 = getelementptr <2 x double>, ptr %p, i64 17
  %l17 = load <2 x double>, ptr %q17
  %t17 = fadd <2 x double> %l17, %s50
  %q18 = getelementptr <2 x double>, ptr %p, i64 18
  %l18 = load <2 x double>, ptr %q18
  %t18 = fadd <2 x double> %l18, %s57
  %q19 = getelementptr <2 x double>, ptr %p, i64 19
  %l19 = load <2 x double>, ptr %q19
  %t19 = fadd <2 x double> %l19, %s64
  %q20 = getelementptr <2 x double>, ptr %p, i64 20
  %l20 = load <2 x double>, ptr %q20
  %t20 = fadd <2 x double> %l20, %s1
  %q21 = getelementptr <2 x double>, ptr %p, i64 21
  %l21 = load <2 x double>, ptr %q21
  %t21 = fadd <2 x double> %l21, %s8
  %q22 = getelementptr <2 x double>, ptr %p, i64 22
  %l22 = load <2 x double>, ptr %q22
  %t22 = fadd <2 x double> %l22, %s15
  %q23 = getelementptr <2 x double>, ptr %p, i64 23
  %l23 = load <2 x double>, ptr %q23
  %t23 = fadd <2 x double> %l23, %s22
  %q24 = getelementptr <2 x double>, ptr %p, i64 24
  %l24 = load <2 x double>, ptr %q24
  %t24 = fadd <2 x double> %l24, %s29
  %q25 = getelementptr <2 x double>, ptr %p, i64 25
  %l25 = load <2 x double>, ptr %q25
  %t25 = fadd <2 x double> %l25, %s36
  %q26 = getelementptr <2 x double>, ptr %p, i64 26
  %l26 = load <2 x double>, ptr %q26
  %t26 = fadd <2 x double> %l26, %s43
  %q27 = getelementptr <2 x double>, ptr %p, i64 27
  %l27 = load <2 x double>, ptr %q27
  %t27 = fadd <2 x double> %l27, %s50
  %q28 = getelementptr <2 x double>, ptr %p, i64 28
  %l28 = load <2 x double>, ptr %q28
  %t28 = fadd <2 x double> %l28, %s57
  %q29 = getelementptr <2 x double>, ptr %p, i64 29
  %l29 = load <2 x double>, ptr %q29
  %t29 = fadd <2 x double> %l29, %s64
  %q30 = getelementptr <2 x double>, ptr %p, i64 30
  %l30 = load <2 x double>, ptr %q30
  %t30 = fadd <2 x double> %l30, %s1
  %q31 = getelementptr <2 x double>, ptr %p, i64 31
  %l31 = load <2 x double>, ptr %q31
  %t31 = fadd <2 x double> %l31, %s8
  %q32 = getelementptr <2 x double>, ptr %p, i64 32
  %l32 = load <2 x double>, ptr %q32
  %t32 = fadd <2 x double> %l32, %s15
  %q33 = getelementptr <2 x double>, ptr %p, i64 33
  %l33 = load <2 x double>, ptr %q33
  %t33 = fadd <2 x double> %l33, %s22
  %q34 = getelementptr <2 x double>, ptr %p, i64 34
  %l34 = load <2 x double>, ptr %q34
  %t34 = fadd <2 x double> %l34, %s29
  %q35 = getelementptr <2 x double>, ptr %p, i64 35
  %l35 = load <2 x double>, ptr %q35
  %t35 = fadd <2 x double> %l35, %s36
  %q36 = getelementptr <2 x double>, ptr %p, i64 36
  %l36 = load <2 x double>, ptr %q36
  %t36 = fadd <2 x double> %l36, %s43
  %q37 = getelementptr <2 x double>, ptr %p, i64 37
  %l37 = load <2 x double>, ptr %q37
  %t37 = fadd <2 x double> %l37, %s50
  %q38 = getelementptr <2 x double>, ptr %p, i64 38
  %l38 = load <2 x double>, ptr %q38
  %t38 = fadd <2 x double> %l38, %s57
  %q39 = getelementptr <2 x double>, ptr %p, i64 39
  %l39 = load <2 x double>, ptr %q39
  %t39 = fadd <2 x double> %l39, %s64
  %q40 = getelementptr <2 x double>, ptr %p, i64 40
  %l40 = load <2 x double>, ptr %q40
  %t40 = fadd <2 x double> %l40, %s1
  %q41 = getelementptr <2 x double>, ptr %p, i64 41
  %l41 = load <2 x double>, ptr %q41
  %t41 = fadd <2 x double> %l41, %s8
  %q42 = getelementptr <2 x double>, ptr %p, i64 42
  %l42 = load <2 x double>, ptr %q42
  %t42 = fadd <2 x double> %l42, %s15
  %q43 = getelementptr <2 x double>, ptr %p, i64 43
  %l43 = load <2 x double>, ptr %q43
  %t43 = fadd <2 x double> %l43, %s22
  %q44 = getelementptr <2 x double>, ptr %p, i64 44
  %l44 = load <2 x double>, ptr %q44
  %t44 = fadd <2 x double> %l44, %s29
  %q45 = getelementptr <2 x double>, ptr %p, i64 45
  %l45 = load <2 x double>, ptr %q45
  %t45 = fadd <2 x double> %l45, %s36
  %q46 = getelementptr <2 x double>, ptr %p, i64 46
  %l46 = load <2 x double>, ptr %q46
  %t46 = fadd <2 x double> %l46, %s43
  %q47 = getelementptr <2 x double>, ptr %p, i64 47
  %l47 = load <2 x double>, ptr %q47
  %t47 = fadd <2 x double> %l47, %s50
  %q48 = getelementptr <2 x double>, ptr %p, i64 48
  %l48 = load <2 x double>, ptr %q48
  %t48 = fadd <2 x double> %l48, %s57
  %q49 = getelementptr <2 x double>, ptr %p, i64 49
  %l49 = load <2 x double>, ptr %q49
  %t49 = fadd <2 x double> %l49, %s64
  %q50 = getelementptr <2 x double>, ptr %p, i64 50
  %l50 = load <2 x double>, ptr %q50
  %t50 = fadd <2 x double> %l50, %s1
  %q51 = getelementptr <2 x double>, ptr %p, i64 51
  %l51 = load <2 x double>, ptr %q51
  %t51 = fadd <2 x double> %l51, %s8
  %q52 = getelementptr <2 x double>, ptr %p, i64 52
  %l52 = load <2 x double>, ptr %q52
  %t52 = fadd <2 x double> %l52, %s15
  %q53 = getelementptr <2 x double>, ptr %p, i64 53
  %l53 = load <2 x double>, ptr %q53
  %t53 = fadd <2 x double> %l53, %s22
  %q54 = getelementptr <2 x double>, ptr %p, i64 54
  %l54 = load <2 x double>, ptr %q54
  %t54 = fadd <2 x double> %l54, %s29
  %q55 = getelementptr <2 x double>, ptr %p, i64 55
  %l55 = load <2 x double>, ptr %q55
  %t55 = fadd <2 x double> %l55, %s36
  %q56 = getelementptr <2 x double>, ptr %p, i64 56
  %l56 = load <2 x double>, ptr %q56
  %t56 = fadd <2 x double> %l56, %s43
  %q57 = getelementptr <2 x double>, ptr %p, i64 57
  %l57 = load <2 x double>, ptr %q57
  %t57 = fadd <2 x double> %l57, %s50
  %q58 = getelementptr <2 x double>, ptr %p, i64 58
  %l58 = load <2 x double>, ptr %q58
  %t58 = fadd <2 x double> %l58, %s57
  %q59 = getelementptr <2 x double>, ptr %p, i64 59
  %l59 = load <2 x double>, ptr %q59
  %t59 = fadd <2 x double> %l59, %s64
  %q60 = getelementptr <2 x double>, ptr %p, i64 60
  %l60 = load <2 x double>, ptr %q60
  %t60 = fadd <2 x double> %l60, %s1
  %q61 = getelementptr <2 x double>, ptr %p, i64 61
  %l61 = load <2 x double>, ptr %q61
  %t61 = fadd <2 x double> %l61, %s8
  %q62 = getelementptr <2 x double>, ptr %p, i64 62
  %l62 = load <2 x double>, ptr %q62
  %t62 = fadd <2 x double> %l62, %s15
  %q63 = getelementptr <2 x double>, ptr %p, i64 63
  %l63 = load <2 x double>, ptr %q63
  %t63 = fadd <2 x double> %l63, %s22
  %q64 = getelementptr <2 x double>, ptr %p, i64 64
  %l64 = load <2 x double>, ptr %q64
  %t64 = fadd <2 x double> %l64, %s29
  %q65 = getelementptr <2 x double>, ptr %p, i64 65
  %l65 = load <2 x double>, ptr %q65
  %t65 = fadd <2 x double> %l65, %s36
  %q66 = getelementptr <2 x double>, ptr %p, i64 66
  %l66 = load <2 x double>, ptr %q66
  %t66 = fadd <2 x double> %l66, %s43
  %q67 = getelementptr <2 x double>, ptr %p, i64 67
  %l67 = load <2 x double>, ptr %q67
  %t67 = fadd <2 x double> %l67, %s50
  %q68 = getelementptr <2 x double>, ptr %p, i64 68
  %l68 = load <2 x double>, ptr %q68
  %t68 = fadd <2 x double> %l68, %s57
  %q69 = getelementptr <2 x double>, ptr %p, i64 69
  %l69 = load <2 x double>, ptr %q69
  %t69 = fadd <2 x double> %l69, %s64
  %next = add i64 %i, 1
  %c = icmp ult i64 %next, %n
  br i1 %c, label %loop, label %exit

exit:
  store <2 x double> %t0, ptr %q0
  store <2 x double> %t1, ptr %q1
  store <2 x double> %t2, ptr %q2
  store <2 x double> %t3, ptr %q3
  store <2 x double> %t4, ptr %q4
  store <2 x double> %t5, ptr %q5
  store <2 x double> %t6, ptr %q6
  store <2 x double> %t7, ptr %q7
  store <2 x double> %t8, ptr %q8
  store <2 x double> %t9, ptr %q9
  store <2 x double> %t10, ptr %q10
  store <2 x double> %t11, ptr %q11
  store <2 x double> %t12, ptr %q12
  store <2 x double> %t13, ptr %q13
  store <2 x double> %t14, ptr %q14
  store <2 x double> %t15, ptr %q15
  store <2 x double> %t16, ptr %q16
  store <2 x double> %t17, ptr %q17
  store <2 x double> %t18, ptr %q18
  store <2 x double> %t19, ptr %q19
  store <2 x double> %t20, ptr %q20
  store <2 x double> %t21, ptr %q21
  store <2 x double> %t22, ptr %q22
  store <2 x double> %t23, ptr %q23
  store <2 x double> %t24, ptr %q24
  store <2 x double> %t25, ptr %q25
  store <2 x double> %t26, ptr %q26
  store <2 x double> %t27, ptr %q27
  store <2 x double> %t28, ptr %q28
  store <2 x double> %t29, ptr %q29
  store <2 x double> %t30, ptr %q30
  store <2 x double> %t31, ptr %q31
  store <2 x double> %t32, ptr %q32
  store <2 x double> %t33, ptr %q33
  store <2 x double> %t34, ptr %q34
  store <2 x double> %t35, ptr %q35
  store <2 x double> %t36, ptr %q36
  store <2 x double> %t37, ptr %q37
  store <2 x double> %t38, ptr %q38
  store <2 x double> %t39, ptr %q39
  store <2 x double> %t40, ptr %q40
  store <2 x double> %t41, ptr %q41
  store <2 x double> %t42, ptr %q42
  store <2 x double> %t43, ptr %q43
  store <2 x double> %t44, ptr %q44
  store <2 x double> %t45, ptr %q45
  store <2 x double> %t46, ptr %q46
  store <2 x double> %t47, ptr %q47
  store <2 x double> %t48, ptr %q48
  store <2 x double> %t49, ptr %q49
  store <2 x double> %t50, ptr %q50
  store <2 x double> %t51, ptr %q51
  store <2 x double> %t52, ptr %q52
  store <2 x double> %t53, ptr %q53
  store <2 x double> %t54, ptr %q54
  store <2 x double> %t55, ptr %q55
  store <2 x double> %t56, ptr %q56
  store <2 x double> %t57, ptr %q57
  store <2 x double> %t58, ptr %q58
  store <2 x double> %t59, ptr %q59
  store <2 x double> %t60, ptr %q60
  store <2 x double> %t61, ptr %q61
  store <2 x double> %t62, ptr %q62
  store <2 x double> %t63, ptr %q63
  store <2 x double> %t64, ptr %q64
  store <2 x double> %t65, ptr %q65
  store <2 x double> %t66, ptr %q66
  store <2 x double> %t67, ptr %q67
  store <2 x double> %t68, ptr %q68
  store <2 x double> %t69, ptr %q69
  ret void
}
