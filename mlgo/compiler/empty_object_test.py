"""Which modules must leave something in an object, told from LLVM's text; which objects may be empty."""

import unittest

from mlgo.compiler import empty_object
from mlgo.compiler.testing.made_up_object import made_up_object

# As clang 22 prints definitions that no optimisation may drop.
KEPT = """\
define dso_local noundef i32 @_Z1fi(i32 noundef %0) #0 {
define weak dso_local noundef i32 @w() #1 {
define weak_odr hidden noundef ptr @_ZTW1t() #4 comdat {
define hidden i32 @h() {
define dso_local void @"internal name"() {
@x = dso_local global i32 0, align 4
@"a = b" = constant i32 3
@t = dso_local thread_local global i32 0, align 4
@c = common global i32 0
@a = dso_local alias i32 (i32), ptr @_Z1fi
@i = ifunc i32 (), ptr @resolve
@llvm.global_ctors = appending global [1 x { i32, ptr, ptr }] [{ i32, ptr, ptr } zeroinitializer]
module asm ".globl x"
""".splitlines()

# And those that may go, or are none.
DROPPED = """\
source_filename = "define.c"
module asm ".lto_set_conditional f,f.b2aa3b8c"
define internal void @f() {
define private void @f() {
define available_externally dso_local i32 @g() {
define linkonce_odr dso_local i32 @h() #0 comdat {
define linkonce void @l() {
declare i32 @e()
@y = external global i32, align 4
@s = internal global %struct.S zeroinitializer, align 1
@.str = private unnamed_addr constant [5 x i8] c"@x = "
@v = available_externally global i32 0
@z = linkonce_odr constant i32 0
@u = extern_weak global i32
@llvm.used = appending global [1 x ptr] [ptr @s], section "llvm.metadata"
  store i32 0, ptr @x
""".splitlines()


class DefinesSomethingTest(unittest.TestCase):
    def test_one_definition(self):
        for line in KEPT:
            self.assertTrue(empty_object.defines_something("\n".join([*DROPPED, line, *DROPPED])), line)

    def test_none(self):
        self.assertFalse(empty_object.defines_something("\n".join(DROPPED)))


class MayBeEmptyTest(unittest.TestCase):
    def test_sizes_formats_and_damaged_elf(self):
        damaged = (b"\x7fELF\x02\x01" + b"\xff" * 100, b"", b"\x7fELF")
        for content in (b"\x64\x86 a small COFF object", made_up_object({}), *damaged):
            self.assertTrue(empty_object.may_be_empty(content), content)
        for content in (bytes(empty_object.MAX_EMPTY_BYTES + 1), made_up_object({"f": 1})):
            self.assertFalse(empty_object.may_be_empty(content))
