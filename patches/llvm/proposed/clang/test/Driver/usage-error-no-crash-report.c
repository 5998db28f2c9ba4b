// An error that LLVM reports as the user's (reportFatalUsageError) is no crash
// of the compiler: no stack dump, and no request for a bug report, when cc1 runs
// in the driver's process.

// RUN: not %clang -fintegrated-cc1 -c %s -o %t.o -mllvm -stop-after=nosuch 2>&1 | FileCheck %s
// RUN: not %clang -fno-integrated-cc1 -c %s -o %t.o -mllvm -stop-after=nosuch 2>&1 | FileCheck %s

// CHECK: error in backend: "nosuch" pass is not registered.
// CHECK-NOT: submit a bug report
// CHECK-NOT: Stack dump

int f(void) { return 1; }
