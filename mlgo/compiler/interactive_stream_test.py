"""The channel's bytes, cut anywhere, damaged anywhere; which decisions reach the compiler, and as which bytes."""

import json
import re
import struct
import unittest

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from mlgo.compiler.interactive_stream import ObservationStream, WrongAnswerError, encoder
from mlgo.compiler.testing import log_writer
from mlgo.compiler.training_log import MAX_HEADER_BYTES, TrainingLogError
from mlgo.compiler.training_log_scan import MAX_LINE_BYTES
from mlgo.problems.inlining_for_size.problem import PROBLEM as INLINING
from mlgo.problems.problem import Problem
from mlgo.problems.regalloc_eviction.problem import PROBLEM as EVICTION
from mlgo.problems.regalloc_priority.problem import LARGEST_PRIORITY
from mlgo.problems.regalloc_priority.problem import PROBLEM as PRIORITY

PROBLEMS = (EVICTION, INLINING, PRIORITY)


def conversation(problem: Problem, contexts: list[tuple[str, int]], seed: int = 0) -> tuple[bytes, list]:
    """What the compiler says for `contexts` (name, decisions), and the (context, number, values) in it."""
    random = np.random.default_rng(seed)
    parts, said = [log_writer.channel_header(problem)], []
    for name, decisions in contexts:
        parts.append(log_writer.context(name))
        for number in range(decisions):
            values = log_writer.plausible_observation(problem, random).values[: len(problem.interactive_specs())]
            parts.append(log_writer.observation(number, values))
            said.append((name, number, values))
    return b"".join(parts), said


def listen(stream: ObservationStream, data: bytes, sizes: list[int]) -> list:
    """Feeds `data` in pieces of `sizes`, then the rest; returns (context, number, copied values) of results."""
    heard, position = [], 0
    for size in (*sizes, len(data)):
        stream.feed(data[position : position + size])
        position += size
        while (observation := stream.next_observation()) is not None:
            values = tuple(array.copy() for array in observation.features.values())
            heard.append((observation.context, observation.number, values))
    stream.finish()
    return heard


class GoodStreamTest(unittest.TestCase):
    def assert_same(self, heard, said):
        self.assertEqual([entry[:2] for entry in heard], [entry[:2] for entry in said])
        for (_, _, got), (_, _, wanted) in zip(heard, said):
            self.assertEqual([array.tobytes() for array in got], [array.tobytes() for array in wanted])

    @settings(deadline=None, max_examples=50)
    @given(
        st.sampled_from(PROBLEMS),
        st.lists(st.tuples(st.text(max_size=12), st.integers(0, 4)), max_size=5),
        st.lists(st.integers(1, 5000), max_size=40),
    )
    def test_cuts_do_not_matter(self, problem, contexts, sizes):
        data, said = conversation(problem, contexts)
        self.assert_same(listen(ObservationStream(problem, "c"), data, sizes), said)

    def test_more_than_the_buffer_and_long_lines(self):
        data, said = conversation(EVICTION, [("f", 30), ("x" * 300_000, 0), ("g" * 100_000, 30)])
        self.assertGreater(len(data), 3 * 65536)
        self.assert_same(listen(ObservationStream(EVICTION, "c"), data, [65536] * 3), said)

    def test_shapes_types_and_the_default(self):
        data, _ = conversation(EVICTION, [("f", 1)])
        stream = ObservationStream(EVICTION, "c")
        stream.feed(data)
        observation = stream.next_observation()
        assert observation is not None
        features = observation.features
        for spec in EVICTION.observation_specs:
            self.assertEqual((features[spec.name].shape, str(features[spec.name].dtype)), (spec.shape, spec.dtype))
        with self.assertRaisesRegex(ValueError, "read-only"):
            features["mask"][0, 0] = 1
        default = log_writer.channel_header(INLINING, include_default=True)
        record = np.arange(39, dtype=np.int64)
        data = default + log_writer.context("") + log_writer.observation(0, (record,))
        ((_, _, values),) = listen(ObservationStream(INLINING, "c", include_default=True), data, [])
        self.assertEqual(values[-1][0], 38)

    def test_the_same_header_again_is_no_news(self):
        data, said = conversation(PRIORITY, [("f", 2)])
        self.assert_same(listen(ObservationStream(PRIORITY, "c"), data + log_writer.channel_header(PRIORITY), []), said)


class DamagedStreamTest(unittest.TestCase):
    def refuses(self, data: bytes, message: str, problem: Problem = EVICTION, **options) -> None:
        with self.assertRaisesRegex(TrainingLogError, message):
            listen(ObservationStream(problem, "channel of m.c", **options), data, [])

    def test_headers(self):
        header = json.loads(log_writer.channel_header(EVICTION))

        def changed(**changes) -> bytes:
            return json.dumps({**header, **changes}).encode() + b"\n"

        features = header["features"]
        other_type = [{**features[0], "type": "float"}, *features[1:]]
        other_shape = [{**features[0], "shape": [1, 34]}, *features[1:]]
        self.refuses(b"hello\n", "channel of m.c at byte 0: the header is not JSON")
        self.refuses(b"[" * 100_000 + b"\n", "the header is nested too deeply")
        self.refuses(b'{"context":"f"}\n', 'not an object with a list "features"')
        wrong = r"tensor 0 .* is mask int64_t\[1, 33\], in this channel it is mask float\[1, 33\]"
        self.refuses(changed(features=other_type), wrong)
        self.refuses(changed(features=other_shape), r"in this channel it is mask int64_t\[1, 34\]")
        self.refuses(changed(features=features[:-1]), "tensor 20 .* is progress float.*it is index_to_evict")
        self.refuses(changed(features=[*features, {**features[-1], "name": "moon"}]), "tensor 21 .*it is moon float")
        self.refuses(changed(features=[*features, features[0]]), "tensor 21 ")
        self.refuses(changed(advice=features[0]), "tensor 21 .* is index_to_evict .*it is mask")
        self.refuses(changed(advice=None), "the header describes a tensor as null")
        self.refuses(changed(features=[{}] * 21), "the header describes a tensor as {}")
        self.refuses(log_writer.channel_header(PRIORITY), "tensor 0 .* is mask .* it is li_size")
        wrong = "inlining_default .* it is inlining_decision"
        self.refuses(log_writer.channel_header(INLINING), wrong, INLINING, include_default=True)
        self.refuses(b"{" * (MAX_HEADER_BYTES + 2), "more than the 1048576 bytes allowed")

    def test_bodies(self):
        header, context = log_writer.channel_header(PRIORITY), log_writer.context("f")
        values = (np.zeros(1, np.int64), np.zeros(1, np.int64), np.ones(1, np.float32))
        first = log_writer.observation(0, values)

        def refuses(body: bytes, message: str):
            self.refuses(header + body, message, PRIORITY)

        refuses(first, f"at byte {len(header)}: an observation comes before the first context")
        refuses(context + log_writer.observation(0, values) * 2, "after observation 0 comes 0")
        refuses(context + first + log_writer.observation(2, values), "after observation 0 comes 2")
        refuses(context + first[:-1] + b"x", "newline after the 20 bytes of tensors is missing")
        refuses(context + first[:-1], "ends inside an observation")
        refuses(context + first + b"bye", r"ends with b'bye', inside a line")
        refuses(context + first + b"bye\n", "b'bye' is no context or observation line")
        refuses(context + b'{"observation":-1}\n', "is no context or observation line")
        refuses(context + b'{"context":1}\n', "is no context or observation line")
        refuses(context + b'{"outcome":0}\n', "is no context or observation line")
        refuses(b"x" * (MAX_LINE_BYTES + 2), "more than the 1048576 bytes allowed")

    @settings(deadline=None, max_examples=100)
    @given(st.data())
    def test_whatever_comes_is_understood_or_refused(self, data):
        whole, said = conversation(PRIORITY, [("f", 2), ("g", 1)])
        position = data.draw(st.integers(0, len(whole)))
        removed = data.draw(st.integers(0, 30))
        damaged = whole[:position] + data.draw(st.binary(max_size=30)) + whole[position + removed :]
        try:
            heard = listen(ObservationStream(PRIORITY, "c"), damaged, [7, 100])
        except TrainingLogError as error:
            self.assertRegex(str(error), r"^c at byte \d+: ")
        else:
            self.assertLessEqual(len(heard), len(said) + 1)

    def test_every_truncation_is_seen_or_lies_between_two_entries(self):
        data, _ = conversation(PRIORITY, [("f", 2), ("g", 1)])
        silent = []
        for length in range(1, len(data)):
            try:
                listen(ObservationStream(PRIORITY, "c"), data[:length], [])
                silent.append(length)
            except TrainingLogError:
                pass
        entries = [match.start() for match in re.finditer(rb'\{"(context|observation)', data)]
        self.assertEqual(silent, entries)


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
