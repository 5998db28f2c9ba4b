"""Which decisions may reach the compiler, and as which bytes."""

import struct
import unittest

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from mlgo.compiler.interactive_stream import WrongAnswerError, encoder
from mlgo.problems.inlining_for_size.problem import PROBLEM as INLINING
from mlgo.problems.regalloc_eviction.problem import PROBLEM as EVICTION
from mlgo.problems.regalloc_priority.problem import LARGEST_PRIORITY
from mlgo.problems.regalloc_priority.problem import PROBLEM as PRIORITY


def mask_of(*positions: int) -> dict[str, np.ndarray]:
    mask = np.zeros((1, 33), np.int64)
    mask[0, list(positions)] = 1
    return {"mask": mask}


class AnswerTest(unittest.TestCase):
    def refuses(self, problem, decision, features, message):
        with self.assertRaisesRegex(WrongAnswerError, message):
            encoder(problem)(decision, features)

    def test_choice(self):
        encode = encoder(EVICTION)
        features = mask_of(3, 32)
        for decision in (3, np.int32(3), np.array([3]), np.array(3, np.uint8)):
            self.assertEqual(encode(decision, features), struct.pack("<q", 3))
        self.assertEqual(encode(32, features), struct.pack("<q", 32))
        for decision in (0, 4, -1, 33, 2**70, np.int64(-30)):
            self.refuses(EVICTION, decision, features, r"one of the positions \[3, 32\], which the mask allows, not ")
        for decision in (3.0, True, np.True_, None, "3", np.array([3.0]), np.array([3, 3]), [3], float("nan")):
            self.refuses(EVICTION, decision, features, "index_to_evict must be an integer, not ")

    def test_binary(self):
        encode = encoder(INLINING)
        for decision in (1, True, np.True_, np.int64(1), np.array([1])):
            self.assertEqual(encode(decision, {}), struct.pack("<q", 1))
        self.assertEqual(encode(False, {}), bytes(8))
        for decision in (2, -1, 1.0, None, np.array([1.0]), np.array([0, 1]), float("nan")):
            self.refuses(INLINING, decision, {}, "inlining_decision must be 0 or 1, not ")

    def test_number(self):
        encode = encoder(PRIORITY)
        for decision in (7, 7.0, np.float32(7), np.float64(7), np.array([7], np.float32), np.int64(7)):
            self.assertEqual(encode(decision, {}), struct.pack("<f", 7))
        self.assertEqual(encode(LARGEST_PRIORITY, {}), struct.pack("<f", LARGEST_PRIORITY))
        # 2^32 - 1 is within the 32 bits, but the nearest float32 is 2^32.
        for decision in (-1, -1e-30, 2**32 - 1, 2**32, 1e300, 10**400, float("nan"), float("inf"), float("-inf")):
            self.refuses(PRIORITY, decision, {}, "priority must be a number from 0 to 4294967040, not ")
        for decision in (True, None, "7", np.array([1.0, 2.0]), 7j):
            self.refuses(PRIORITY, decision, {}, "priority must be a number, not ")

    @given(st.one_of(st.floats(), st.integers()))
    def test_what_is_sent_fits_32_bits(self, decision):
        try:
            data = encoder(PRIORITY)(decision, {})
        except WrongAnswerError:
            return
        (value,) = struct.unpack("<f", data)
        self.assertTrue(0 <= int(value) < 2**32)

    @given(st.sets(st.integers(0, 32)), st.integers(-40, 40))
    def test_what_is_sent_is_in_the_mask(self, legal, decision):
        try:
            data = encoder(EVICTION)(decision, mask_of(*legal))
        except WrongAnswerError:
            self.assertNotIn(decision, legal)
        else:
            self.assertIn(struct.unpack("<q", data)[0], legal)


if __name__ == "__main__":
    unittest.main()
