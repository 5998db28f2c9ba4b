"""The report of an extraction: counts, summary and limits."""

import unittest

from mlgo.corpus.extraction.outcome import Kind, Omission
from mlgo.corpus.extraction.report import Report
from mlgo.run.exit_codes import ExitCode, RunError

OMISSIONS = tuple(Omission(f"{name}.o", Kind.MISSING_OBJECT, "does not exist") for name in "abcd")
REPORT = Report(("m.o",), (*OMISSIONS, Omission("s.o", Kind.NO_BITCODE, "has no bitcode section")))


class ReportTest(unittest.TestCase):
    def test_json(self):
        content = REPORT.to_json()
        self.assertEqual((content["objects"], content["modules"], content["failures"]), (6, 1, 4))
        self.assertEqual(content["counts"], {"no_bitcode": 1, "missing_object": 4})
        left_out = content["left_out"]
        assert isinstance(left_out, list)
        self.assertEqual(left_out[-1], {"name": "s.o", "kind": "no_bitcode", "reason": "has no bitcode section"})

    def test_the_summary_has_three_examples_of_a_kind(self):
        self.assertRegex("\n".join(REPORT.lines()), r"4 that do not exist .*: a\.o, b\.o, c\.o, \.\.\.$")

    def test_limits(self):
        REPORT.check(None)
        REPORT.check(4)
        with self.assertRaisesRegex(RunError, r"4 of 6 objects failed \(first: a.o: does not exist\)") as caught:
            REPORT.check(3)
        self.assertEqual(caught.exception.exit_code, ExitCode.TOO_MANY_FAILURES)
        with self.assertRaisesRegex(RunError, "5 objects: none of them gave a module. Build first") as caught:
            Report((), REPORT.omissions).check(None)
        self.assertEqual(caught.exception.exit_code, ExitCode.NOTHING_PRODUCED)


if __name__ == "__main__":
    unittest.main()
