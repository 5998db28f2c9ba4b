; UNSUPPORTED: have_tf_aot
;
; The inliner of full LTO asks the advisor that -enable-ml-inliner names. There
; is none in this build, which must be an error and must not go unnoticed.
;
; RUN: not opt -passes='lto<O2>' -enable-ml-inliner=release -disable-output %s 2>&1 | FileCheck %s
; RUN: opt -passes='lto<O2>' -enable-ml-inliner=default -disable-output %s

; CHECK: {{[Ii]nlining}}

define void @f() {
  ret void
}
