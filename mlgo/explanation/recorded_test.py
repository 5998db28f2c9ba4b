"""Recorded decisions: round trip and malformed files."""

import unittest

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from mlgo.compiler.training_log import TrainingLog
from mlgo.explanation.recorded import decode, encode
from mlgo.explanation.testing import states
from mlgo.problems.inlining_for_size.problem import PROBLEM as INLINING
from mlgo.problems.regalloc_eviction.problem import PROBLEM as EVICTION
from mlgo.run.exit_codes import RunError
from mlgo.trace import arrays


def _log(recorded, extra=None) -> TrainingLog:
    scores = np.full(len(recorded.contexts), np.nan, np.float32)
    return TrainingLog(
        list(recorded.contexts), recorded.context, dict(recorded.features), recorded.taken, scores, extra or {}
    )


class RecordedTest(unittest.TestCase):
    def test_the_heuristics_answers_are_its_own_decisions(self):
        given_decisions = states.eviction("m", 20, 1)
        found = decode(encode(_log(given_decisions), EVICTION, heuristic_decided=True), "file", "m", EVICTION)
        np.testing.assert_array_equal(found.heuristic, given_decisions.taken)
        np.testing.assert_array_equal(found.features["mask"], given_decisions.features["mask"])
        self.assertEqual((found.contexts, found.function(5), found.callee(5)), (given_decisions.contexts, "f1", ""))
        self.assertEqual(found.by_function()["f2"], [8, 9, 10, 11])

    def test_under_a_policy_they_are_what_the_compiler_logs_or_unknown(self):
        calls = states.inlining("m", 9, 1)
        asked = 1 - calls.taken.reshape(-1, 1)
        found = decode(
            encode(_log(calls, {"inlining_default": asked}), INLINING, heuristic_decided=False), "file", "m", INLINING
        )
        np.testing.assert_array_equal(found.heuristic, asked[:, 0])
        np.testing.assert_array_equal(found.taken, calls.taken)
        self.assertEqual((found.function(4), found.callee(4)), ("f1", "g1"))
        ranges = states.eviction("m", 9, 1)
        self.assertIsNone(
            decode(encode(_log(ranges), EVICTION, heuristic_decided=False), "file", "m", EVICTION).heuristic
        )

    def test_equal_states_at_the_start_are_counted(self):
        one, other = states.eviction("m", 12, 1), states.eviction("m", 12, 1)
        self.assertEqual(one.same_states(range(12), other, range(12)), 12)
        self.assertEqual(one.same_states(range(12), other, range(3)), 3)
        other.features["progress"][4] += 1
        self.assertEqual(one.same_states(range(12), other, range(12)), 4)
        # NaN is equal to itself here: it is the same state.
        for each in (one, other):
            each.features["nr_urgent"][0] = np.nan
        self.assertEqual(one.same_states(range(12), other, range(12)), 4)

    def test_names_that_are_not_there_are_refused(self):
        content = arrays.decode(encode(_log(states.eviction("m", 8, 1)), EVICTION, True), "file")
        for changed, wrong in (
            ({":observation_context": content[":observation_context"] + 5}, "under names that it does not hold"),
            ({":contexts": np.frombuffer(b"[1", np.uint8)}, "holds no decisions of regalloc_eviction"),
        ):
            with self.assertRaisesRegex(RunError, wrong):
                decode(arrays.encode({**content, **changed}), "file", "m", EVICTION)
        with self.assertRaisesRegex(RunError, "lacks .* of inlining_for_size"):
            decode(arrays.encode(content), "file", "m", INLINING)

    @given(st.binary(max_size=200))
    def test_no_other_bytes_are_decisions(self, content):
        for damaged in (content, arrays.MAGIC + content):
            with self.assertRaisesRegex(RunError, "^file: (is damaged: |does not start like ).*Delete it"):
                decode(damaged, "file", "m", EVICTION)


if __name__ == "__main__":
    unittest.main()
