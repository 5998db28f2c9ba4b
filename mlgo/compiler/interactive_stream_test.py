"""The channel's bytes, cut anywhere, damaged anywhere."""

import json
import re
import unittest

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from mlgo.compiler.interactive_stream import ObservationStream
from mlgo.compiler.testing import log_writer
from mlgo.compiler.training_log import MAX_HEADER_BYTES, TrainingLogError
from mlgo.compiler.training_log_scan import MAX_LINE_BYTES
from mlgo.problems.inlining_for_size.problem import PROBLEM as INLINING
from mlgo.problems.problem import Problem
from mlgo.problems.regalloc_eviction.problem import PROBLEM as EVICTION
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
    """Feeds `data` in pieces of `sizes`, then as much as fits; returns (context, number, copied values) of results."""
    heard, position, piece = [], 0, 0
    while position < len(data):
        room = stream.room()
        size = min(len(room), len(data) - position, sizes[piece] if piece < len(sizes) else len(data))
        piece += 1
        room[:size] = data[position : position + size]
        stream.received(size)
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
        stream.room()[: len(data)] = data
        stream.received(len(data))
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
        self.refuses(
            changed(features=other_type),
            r"tensor 0 .* is mask int64_t\[1, 33\], in this channel it is mask float\[1, 33\]",
        )
        self.refuses(changed(features=other_shape), r"in this channel it is mask int64_t\[1, 34\]")
        self.refuses(changed(features=features[:-1]), "tensor 20 .* is progress float.*it is index_to_evict")
        self.refuses(changed(features=[*features, {**features[-1], "name": "moon"}]), "tensor 21 .*it is moon float")
        self.refuses(changed(features=[*features, features[0]]), "tensor 21 ")
        self.refuses(changed(advice=features[0]), "tensor 21 .* is index_to_evict .*it is mask")
        self.refuses(changed(advice=None), "the header describes a tensor as null")
        self.refuses(changed(features=[{}] * 21), "the header describes a tensor as {}")
        self.refuses(log_writer.channel_header(PRIORITY), "tensor 0 .* is mask .* it is li_size")
        self.refuses(
            log_writer.channel_header(INLINING),
            "inlining_default .* it is inlining_decision",
            INLINING,
            include_default=True,
        )
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


if __name__ == "__main__":
    unittest.main()
