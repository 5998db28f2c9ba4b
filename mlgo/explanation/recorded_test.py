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


def _encoded(recorded, problem, heuristic_decided=False, **extra) -> bytes:
    scores = np.full(len(recorded.contexts), np.nan, np.float32)
    features = dict(recorded.features)
    log = TrainingLog(list(recorded.contexts), recorded.context, features, recorded.taken, scores, extra)
    return encode(log, problem, heuristic_decided)


def _decoded(content: bytes, problem):
    return decode(arrays.decode(content, "file"), "file", "m", problem)


class RecordedTest(unittest.TestCase):
    def test_the_heuristics_answers_are_its_own_decisions(self):
        recorded = states.eviction("m", 20, 1)
        found = _decoded(_encoded(recorded, EVICTION, heuristic_decided=True), EVICTION)
        np.testing.assert_array_equal(found.heuristic, recorded.taken)
        np.testing.assert_array_equal(found.features["mask"], recorded.features["mask"])
        self.assertEqual((found.contexts, found.function(5), found.callee(5)), (recorded.contexts, "f1", ""))
        self.assertEqual(found.by_function()["f2"], [8, 9, 10, 11])

    def test_under_a_policy_they_are_what_the_compiler_logs_or_unknown(self):
        calls = states.inlining("m", 9, 1)
        asked = 1 - calls.taken.reshape(-1, 1)
        found = _decoded(_encoded(calls, INLINING, inlining_default=asked), INLINING)
        np.testing.assert_array_equal(found.heuristic, asked[:, 0])
        np.testing.assert_array_equal(found.taken, calls.taken)
        self.assertEqual((found.function(4), found.callee(4)), ("f1", "g1"))
        self.assertIsNone(_decoded(_encoded(states.eviction("m", 9, 1), EVICTION), EVICTION).heuristic)

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
        content = arrays.decode(_encoded(states.eviction("m", 8, 1), EVICTION), "file")
        for changed, wrong in (
            ({":observation_context": content[":observation_context"] + 5}, "under names that it does not hold"),
            ({":contexts": np.frombuffer(b"[1", np.uint8)}, "holds no decisions of regalloc_eviction"),
        ):
            with self.assertRaisesRegex(RunError, wrong):
                _decoded(arrays.encode({**content, **changed}), EVICTION)
        with self.assertRaisesRegex(RunError, "lacks .* of inlining_for_size"):
            _decoded(arrays.encode(content), INLINING)

    @given(st.binary(max_size=200))
    def test_no_other_bytes_are_decisions(self, content):
        for damaged in (content, arrays.MAGIC + content):
            with self.assertRaisesRegex(RunError, "^file: (is damaged: |does not start like ).*Delete it"):
                _decoded(damaged, EVICTION)
