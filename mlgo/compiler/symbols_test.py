"""Demangling with a fake llvm-cxxfilt."""

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from mlgo.compiler.symbols import Demangler, demangled, shortened
from mlgo.run.exit_codes import RunError
from mlgo.run.testing.folder_case import FolderCase


class SymbolsTest(FolderCase):
    def test_each_name_gets_its_own(self):
        program = self.script("filt", "sed 's/_Z1fv/f()/'")
        self.assertEqual(demangled(program, ["main", "_Z1fv", "main"]), {"main": "main", "_Z1fv": "f()"})
        self.assertEqual(demangled(None, ["_Z1fv"]), {"_Z1fv": "_Z1fv"})

    def test_only_mangled_names_are_given_to_the_program(self):
        program = self.script("filt", "tr _ X")
        odd = ["main", "a\nb", "\udcff", "_Z", "_Z1f v", "?f@@YAXXZ", "x_Z1fv"]
        expected = {**dict(zip(odd, odd)), "_Z1fv.llvm.1": "XZ1fv.llvm.1"}
        self.assertEqual(demangled(program, [*odd, "_Z1fv.llvm.1"]), expected)

    def test_names_in_texts_are_asked_for_once(self):
        demangler = Demangler(self.script("filt", f"echo x >> {self.folder}/runs; sed 's/_Z1fv/f()/; s/_Z1gv/g()/'"))
        self.assertEqual(demangler.texts(["+3 % in _Z1fv.", "(_Z1gv), _Z1fv", ""]), ["+3 % in f().", "(g()), f()", ""])
        self.assertEqual(demangler.texts(["_Z1gv"]), ["g()"])
        self.assertEqual(demangler.names(["_Z1gv", "h"]), {"_Z1gv": "g()", "h": "h"})
        self.assertEqual((self.folder / "runs").read_text(encoding="utf-8"), "x\n")

    def test_long_names_lose_inner_arguments_first(self):
        name = "std::map<int, std::pair<char, long> >::operator()(std::less<int> const&) const"
        for longest, expected in (
            (100, name),
            (75, "std::map<int, std::pair<…> >::operator()(std::less<…> const&) const"),
            (40, "std::map<…>::operator()(…) const"),
            (20, "std::map<…>::operato…"[:19] + "…"),
        ):
            self.assertEqual(shortened(name, longest), expected)
        self.assertEqual(shortened("bool operator< <int>(A<B<C> > const&, int)", 30), "bool operator< <…>(…)")
        self.assertEqual(shortened("f() + " + "x" * 99, 40), "f() + " + "x" * 33 + "…")

    # A busy machine draws slowly.
    @settings(deadline=None, suppress_health_check=[HealthCheck.too_slow])
    @given(st.text(alphabet="<>()[]{}operat:- x", max_size=60), st.integers(1, 60))
    def test_any_name_is_short_enough(self, name, longest):
        self.assertLessEqual(len(shortened(name, longest)), longest)

    def test_names_that_stand_for_gigabytes_stay_mangled(self):
        names = ["_Z1a", "_Z1b"]
        for script in (
            "cat; exec yes",
            "while :; do x=$x$x.; done",
            "sed s/_Z1a/$(head -c 70000 /dev/zero | tr '\\0' x)/",
        ):
            with self.subTest(script):
                self.assertEqual(demangled(self.script("filt", script), names), dict(zip(names, names)))

    def test_a_program_that_does_something_else_is_refused(self):
        for script, wrong in (("cat; echo more", "gave 3 lines for 2 names"), ("exit 3", "cannot be used: .*status 3")):
            with self.assertRaisesRegex(RunError, wrong):
                demangled(self.script("filt", script), ["_Z1a", "_Z1b"])
