"""The result of a verification as text."""

import unittest

from mlgo.compiler.verification import report
from mlgo.compiler.verification.comparison import Difference, Reason
from mlgo.compiler.verification.verify import Verification


class LinesTest(unittest.TestCase):
    def test_all_the_same(self):
        self.assertEqual(
            list(report.lines(Verification(("a", "b"), {}), with_originals=False)),
            ["done 2 of 2 the same as themselves before the move"],
        )

    def test_modules_of_which_only_local_names_differ_are_the_same(self):
        names = Difference(Reason.LOCAL_NAMES, "only local names differ: f.3 -> f.1")
        found = Verification(("a", "b"), {}, {"b": names})
        self.assertEqual(
            list(report.lines(found, with_originals=True)),
            [
                '"b": only local names differ: f.3 -> f.1',
                "done 2 of 2 the same as the original objects (1 but for local names, which no linker reads)",
            ],
        )

    def test_the_first_differences_and_counts_by_reason(self):
        different = {f"m{index}\n": Difference(Reason.COMPILE_FAILED, "crash") for index in range(21)}
        different["x"] = Difference(Reason.SPLIT_DWARF, "-")
        lines = list(report.lines(Verification(("a",), different), with_originals=True))
        self.assertEqual(lines[0], '"m0\\n": compile_failed: crash')
        self.assertEqual(lines[-2:-1], ["and 2 more; --json=FILE has them all"])
        self.assertEqual(
            lines[-1], "done 1 of 23 the same as the original objects, different: 21 compile_failed, 1 split_dwarf"
        )


if __name__ == "__main__":
    unittest.main()
