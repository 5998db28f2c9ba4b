"""Fold identities, against what ld.lld folds, and of damaged objects.

Arguments: clang, ld.lld.
"""

import collections
import pathlib
import re
import subprocess
import sys
import tempfile
import unittest

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from mlgo.compiler.fold_identity import fold_identities
from mlgo.run.exit_codes import RunError
from mlgo.run.testing.folder_case import FolderCase

CLANG, LINKER = (pathlib.Path(sys.argv.pop(1)).absolute() for _ in range(2))

_HEADER = """
#define KEPT __attribute__((noinline, used))
extern "C" { int outside(int); int elsewhere(int); void print(const char *); }
extern int data_of_others;
struct Cleans { ~Cleans() { outside(9); } };
struct Virtual { virtual int value(int x); };
template <class T> KEPT T twice(T x) { return x + x + sizeof(T); }
"""
_FIRST = """
extern "C" {
KEPT int same_1(int x) { return outside(x) + 5; }
KEPT int same_2(int x) { return outside(x) + 5; }
KEPT int other_callee(int x) { return elsewhere(x) + 5; }
KEPT int other_constant(int x) { return outside(x) + 6; }
KEPT int through_1(int x) { return same_1(x) * 3; }
KEPT int through_2(int x) { return same_2(x) * 3; }
KEPT int through_other(int x) { return other_callee(x) * 3; }
KEPT void says_1() { print("a text"); }
KEPT void says_2() { print("a text"); }
KEPT void says_other() { print("another text"); }
KEPT void says_its_end() { print("text"); }
KEPT double half_1(double x) { return x * 0.7; }
KEPT double half_2(double x) { return x * 0.7; }
KEPT double third(double x) { return x * 0.3; }
KEPT int recursive_1(int x) { return x ? outside(recursive_1(x - 1)) : 1; }
KEPT int recursive_2(int x) { return x ? outside(recursive_2(x - 1)) : 1; }
int own_1, own_2;
KEPT void stores_1() { own_1 = 3; }
KEPT void stores_2() { own_2 = 3; }
KEPT void stores_again() { own_1 = 3; }
KEPT void stores_there() { data_of_others = 3; }
KEPT void cleans_1() { Cleans c; outside(1); }
KEPT void cleans_2() { Cleans c; outside(1); }
}
static KEPT int local(int x) { return outside(x) + 5; }
extern "C" KEPT int through_local(int x) { return local(x) * 3; }
int Virtual::value(int x) { return twice(x) + twice(static_cast<unsigned>(x)); }
#define TABLE(name) extern "C" KEPT int name(int x) { switch (x) { case 1: return outside(1); case 2: return x; \\
  case 3: return outside(7); case 4: print("4"); return 3; case 5: return elsewhere(9); } return 1; }
TABLE(table_1) TABLE(table_2)
"""
_SECOND = """
extern "C" {
KEPT int same_3(int x) { return outside(x) + 5; }
KEPT int through_3(int x) { return same_3(x) * 3; }
KEPT void says_3() { print("a text"); }
KEPT double half_3(double x) { return x * 0.7; }
KEPT void stores_there_too() { data_of_others = 3; }
}
static int hidden_1;
extern "C" KEPT int reads_1() { return hidden_1++; }
extern "C" KEPT Virtual *made() { return new Virtual; }
int longer(int x) { return twice(static_cast<long>(x)) + twice(x); }
"""
_SELECTED = re.compile(r"selected section .*:\(\.text\.(\S+)\)$")
_REMOVED = re.compile(r"removing identical section .*:\(\.text\.(\S+)\)$")


def compiled(folder: pathlib.Path, name: str, text: str, *flags: str, target: str = "x86_64-linux-gnu") -> pathlib.Path:
    source, made = folder / f"{name}.cc", folder / f"{name}.o"
    source.write_text(_HEADER + text, encoding="ascii")
    subprocess.run([CLANG, "-c", "-Oz", "-fPIC", f"--target={target}", *flags, source, "-o", made], check=True)
    return made


class AgainstTheLinkerTest(FolderCase):
    def _compiled(self, name: str, text: str, *flags: str, **settings: str) -> pathlib.Path:
        return compiled(self.folder, name, text, "-ffunction-sections", *flags, **settings)

    def _folded(self, *objects: pathlib.Path) -> set[frozenset[str]]:
        """Functions that ld.lld folds."""
        flags = ["-pie", "--export-dynamic", "--unresolved-symbols=ignore-all", "--icf=all", "--print-icf-sections"]
        command: list[str | pathlib.Path] = [LINKER, *flags, "--entry=0", *objects, "-o", self.folder / "image"]
        printed = subprocess.run(command, check=True, capture_output=True, text=True).stdout
        groups: list[set[str]] = []
        for line in printed.splitlines():
            if (selected := _SELECTED.search(line)) is not None:
                groups.append({selected[1]})
            elif (removed := _REMOVED.search(line)) is not None:
                groups[-1].add(removed[1])
        return set(map(frozenset, groups))

    def _equal(self, *objects: pathlib.Path) -> set[frozenset[str]]:
        """Functions of one fold identity."""
        groups: dict[str, set[str]] = collections.defaultdict(set)
        for path in objects:
            for name, identity in fold_identities(path.read_bytes(), path.name).items():
                groups[identity].add(name)
        return {frozenset(group) for group in groups.values() if len(group) > 1}

    def test_functions_of_one_identity_are_those_that_the_linker_folds(self):
        for target in ("x86_64-linux-gnu", "aarch64-linux-gnu"):
            with self.subTest(target):
                texts = {"first": _FIRST, "second": _SECOND}.items()
                objects = [self._compiled(name, text, "-fno-exceptions", target=target) for name, text in texts]
                folded = self._folded(*objects)
                self.assertIn(frozenset(("same_1", "same_2", "same_3", "_ZL5locali")), folded)
                # For AArch64, constants are named by their section, and of two such places in one section of an object
                # the linker does not see that they hold the same.
                unseen = frozenset(("half_1", "half_2"))
                self.assertEqual(self._equal(*objects) - {unseen}, folded)

    def test_functions_with_exceptions_are_not_folded(self):
        path = self._compiled("first", _FIRST, "-fexceptions")
        identities = fold_identities(path.read_bytes(), "first")
        self.assertNotIn("cleans_1", identities)
        self.assertIn("same_1", identities)
        self.assertEqual(self._equal(path), self._folded(path))

    def test_local_data_of_two_modules_is_not_the_same(self):
        path = self._compiled("second", _SECOND)
        first, second = (fold_identities(path.read_bytes(), name) for name in "ab")
        self.assertEqual({name for name in first if first[name] != second[name]}, {"reads_1"})

    def test_in_one_section_functions_differ_by_their_places(self):
        path = compiled(self.folder, "plain", _FIRST, "-fno-exceptions")
        identities = fold_identities(path.read_bytes(), "plain")
        self.assertNotEqual(identities["same_1"], identities["same_2"])


class DamageTest(unittest.TestCase):
    content: bytes

    @classmethod
    def setUpClass(cls):
        with tempfile.TemporaryDirectory() as temporary:
            cls.content = compiled(pathlib.Path(temporary), "a", _SECOND, "-ffunction-sections").read_bytes()

    @settings(deadline=None, max_examples=300, suppress_health_check=[HealthCheck.too_slow])
    @given(st.lists(st.tuples(st.integers(0, 1 << 16), st.binary(min_size=1, max_size=8)), min_size=1, max_size=6))
    def test_damage_gives_an_error_that_names_the_module_or_none(self, damage):
        content = bytearray(self.content)
        for place, data in damage:
            place %= len(content)
            content[place : place + len(data)] = data
        try:
            fold_identities(bytes(content), "m")
        except RunError as error:
            self.assertRegex(str(error), "object of m: is damaged")

    def test_a_cut_object_is_refused(self):
        for length in range(64, len(self.content), 7):
            with self.assertRaisesRegex(RunError, "object of m: is damaged"):
                fold_identities(self.content[:length], "m")
