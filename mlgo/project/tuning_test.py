"""The search for decisions, with a fake of clang's: its order, its budget, which decisions are kept."""

import pathlib
import shlex
import tempfile
import unittest

from mlgo.project import rows
from mlgo.project.command_line import Compile
from mlgo.project.compiling import Compiled
from mlgo.project.size import code_bytes
from mlgo.project.steps import Budget
from mlgo.project.testing.project_case import elf_of_code
from mlgo.project.tuning import tune


class FakeSearch:
    """Units with compiles of a second and searches of N seconds.

    Args:
      sizes: (source, N) -> bytes of code; by default those of N=1.
      repeats: whether a decision file gives the object of its search.
    """

    def __init__(self, folder, sizes, repeats=True, names=None):
        self.folder, self.sizes, self.repeats, self.names = folder, sizes, repeats, names or {}
        self.calls, self.known = [], {}

    def object(self, source, number):
        path = self.folder / f"{source}.{number}"
        path.write_bytes(elf_of_code(bytes(self.sizes.get((source, number), self.sizes[source, 1]))))
        return path

    def kept(self, unit, flags):
        return self.known.get((unit.source, flags))

    def compile(self, unit, flags):
        if (unit.source, flags) in self.known:
            return self.known[unit.source, flags]
        last = flags[-1]
        if "-mlgo-decisions=" in last:
            text = pathlib.Path(shlex.split(last)[1].partition("=")[2]).read_text()  # A line as clang reads it.
            number = text.count("# 8") and 8 or 2
            return Compiled(self.object(unit.source, number if self.repeats else 1), 1.0)
        number = int(last.partition("-mlgo-search=")[2])
        self.calls.append((unit.source, number))
        decisions = f"mlgo-decisions 1\nmodule\t{self.names.get(unit.source, unit.source)}\n# {number}\n"
        return Compiled(self.object(unit.source, number), float(number), decisions=decisions)


class TuningTest(unittest.TestCase):
    def setUp(self):
        self.folder = pathlib.Path(self.enterContext(tempfile.TemporaryDirectory()), 'a "b')
        self.folder.mkdir()

    def tune(self, search, seconds, jobs=1):
        sources = sorted({source for source, _ in search.sizes})
        units = [Compile("clang", "/", (), source, f"{source}.o", "clang", 1.0, False) for source in sources]
        start = {unit.output: Compiled(search.object(unit.source, 1), 1.0) for unit in units}
        self.budget = Budget(1000.0)
        return tune(units, start, search, jobs, self.budget, seconds, self.folder / "scratch", self.fail)

    def code(self, tuned):
        return {output: code_bytes(one.object) for output, one in tuned.objects.items()}

    def test_the_most_code_first_and_more_where_it_pays(self):
        sizes = {("a", 1): 1000, ("b", 1): 5000, ("b", 2): 4000, ("b", 8): 3900, ("c", 1): 2000}
        search = FakeSearch(self.folder, sizes)
        tuned = self.tune(search, 14.0)
        self.assertEqual(search.calls, [("b", 2), ("b", 8), ("c", 2), ("a", 2)])
        self.assertEqual(self.code(tuned), {"a.o": 1000, "b.o": 3900, "c.o": 2000})
        self.assertEqual(tuned.decisions, "mlgo-decisions 1\nmodule\tb\n# 8\n")
        self.assertEqual((tuned.found, tuned.searched, tuned.units), (1, 3, 3))
        self.assertEqual(tuned.objects["b.o"].seconds, 1.0)

    def test_the_budget(self):
        search = FakeSearch(self.folder, {(name, 1): 1000 for name in "abcd"})
        tuned = self.tune(search, 4.5)
        self.assertEqual((len(search.calls), self.budget.spent), (2, 4.0))
        self.assertEqual(tuned.summary, "0 of 2 searched units became smaller; the budget ended before the other 2")
        self.assertEqual(self.tune(search, 1.0).summary, "the budget leaves no time for a search")

    def test_bitcode_has_no_code_to_search(self):
        search = FakeSearch(self.folder, {("a", 1): 0})
        tuned = self.tune(search, 9.0)
        self.assertEqual((tuned.summary, search.calls), ("no unit has code before the link, as with -flto", []))

    def test_what_was_searched_before_counts_as_it_did(self):
        search = FakeSearch(self.folder, {("a", 1): 1000, ("a", 2): 900})
        flags = (*rows.POLICY_FLAGS, rows.search(2))
        made = search.compile(Compile("clang", "/", (), "a", "a.o", "clang", 1.0, False), flags)
        search.known["a", flags] = made
        self.assertEqual((self.tune(search, 2.0).found, self.budget.spent, len(search.calls)), (1, 2.0, 1))
        self.assertEqual((self.tune(search, 1.9).searched, self.budget.spent), (0, 0.0))

    def test_units_of_one_source_name_share_no_section(self):
        sizes = {(name, number): 1000 // number for name in "abc" for number in (1, 2)}
        tuned = self.tune(FakeSearch(self.folder, sizes, names={"b": "a"}), 7.0)
        self.assertEqual(self.code(tuned), {"a.o": 1000, "b.o": 1000, "c.o": 500})
        self.assertEqual(tuned.found, 1)

    def test_decisions_that_are_not_repeated_are_not_taken(self):
        search = FakeSearch(self.folder, {("a", 1): 1000, ("a", 2): 900}, repeats=False)
        tuned = self.tune(search, 3.0)
        self.assertEqual((tuned.found, tuned.decisions, self.code(tuned)), (0, "", {"a.o": 1000}))

    def test_several_at_a_time(self):
        sizes = {(name, number): 1000 - number for name in "abcdef" for number in (1, 2)}
        tuned = self.tune(FakeSearch(self.folder, sizes), 12.5, jobs=3)
        self.assertEqual((tuned.found, tuned.searched), (6, 6))
