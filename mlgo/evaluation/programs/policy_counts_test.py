"""Counts of programs under policies: lines, what they say of a policy, exit codes."""

import unittest

from mlgo.evaluation.programs.policy_counts import NONE, PolicyCounts
from mlgo.run.exit_codes import ExitCode


def _counts(left_out: dict[str, str] | None = None, differing: dict[str, str] | None = None) -> PolicyCounts:
    run = {
        "jq": {
            "default": {"instructions": 1_000_000, "data_references": 500_000, "code_bytes": 100},
            "mine": {"instructions": 981_000, "data_references": 464_000, "code_bytes": 103},
        }
    }
    return PolicyCounts({"jq": "d1"}, {"run": run, "left_out": left_out or {}, "differing": differing or {}})


class PolicyCountsTest(unittest.TestCase):
    def test_a_line_per_program_and_policy(self):
        self.assertEqual(
            _counts().lines(),
            ["jq, mine: instructions -1.90 %, data references -7.20 %, code bytes +3.00 % (of 1,000,000 instructions)"],
        )

    def test_instructions_are_the_evidence(self):
        self.assertEqual(_counts().ratios(["mine", "other"]), {"mine": {"jq": 0.981}, "other": {}})

    def test_a_program_that_cannot_be_counted_is_named_and_ends_in_an_exit_code(self):
        self.assertIs(_counts().exit_code, ExitCode.DONE)
        failed = _counts(left_out={"lua": "mine: does not compile"})
        self.assertEqual(failed.lines()[-1], "lua: not counted: mine: does not compile")
        self.assertIs(failed.exit_code, ExitCode.TOO_MANY_FAILURES)
        other = _counts(differing={"lua": "mine: stdout"})
        self.assertEqual(other.lines()[-1], "lua: DIFFERENT OUTPUT: mine: stdout")
        self.assertIs(other.exit_code, ExitCode.OUTPUT_DIFFERS)

    def test_without_a_program_a_result_has_no_counts(self):
        self.assertEqual((NONE.to_json(), NONE.lines(), NONE.exit_code), ({}, [], ExitCode.DONE))
        self.assertEqual(_counts().to_json()["digests"], {"jq": "d1"})


if __name__ == "__main__":
    unittest.main()
