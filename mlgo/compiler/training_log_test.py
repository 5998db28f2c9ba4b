"""Both scanners against each other, against known logs, and against every kind of damage."""

import dataclasses
import functools
import json
import os
import re
import tempfile
import unittest

import hypothesis
import numpy as np
from hypothesis import strategies

from mlgo.compiler import training_log_scan
from mlgo.compiler.testing import log_writer, training_log_reference
from mlgo.compiler.testing.log_writer import SMALL_PROBLEM as SMALL
from mlgo.compiler.testing.log_writer import Observation
from mlgo.compiler.training_log import TrainingLogError, interpret, read_header, read_training_log
from mlgo.compiler.training_log_scan import ScanFailure
from mlgo.problems.inlining_for_size.problem import PROBLEM as INLINING
from mlgo.problems.problem import Problem
from mlgo.problems.regalloc_eviction.problem import PROBLEM as EVICTION
from mlgo.problems.regalloc_priority.problem import PROBLEM as PRIORITY
from mlgo.problems.tensor import ITEM_BYTES, NUMPY_NAME_OF_LOG_TYPE, TensorSpec

# No deadline: the machine may be busy. No database: tests leave nothing behind.
hypothesis.settings.register_profile("mlgo", deadline=None, database=None, derandomize=True)
hypothesis.settings.load_profile("mlgo")

EXTRA = (TensorSpec("logits", "float32", (2,)),)
EVERY_TYPE = dataclasses.replace(
    SMALL,
    observation_specs=tuple(TensorSpec(f"one_{dtype}", dtype, (1,)) for dtype in ITEM_BYTES),
    decision_kind="binary",
    action_count=2,
    mask_feature=None,
)

names = strategies.text(min_size=0, max_size=20)
floats = strategies.floats(width=32, allow_nan=False)


@strategies.composite
def observations(draw, extra):
    values = (
        np.array(draw(strategies.lists(strategies.integers(-(2**63), 2**63 - 1), min_size=3, max_size=3)), np.int64),
        np.array([draw(floats)], np.float32),
        *((np.array([draw(floats), draw(floats)], np.float32),) if extra else ()),
        np.array([draw(strategies.integers(0, 2))], np.int64),
    )
    return Observation(values, draw(strategies.one_of(strategies.none(), floats)))


@strategies.composite
def logs(draw):
    """(bytes of a valid log, its contexts, whether it has extra outputs)."""
    extra = draw(strategies.booleans())
    entry = strategies.tuples(names, strategies.lists(observations(extra), max_size=4))
    contexts = draw(strategies.lists(entry, min_size=1, max_size=5, unique_by=lambda context: context[0]))
    return log_writer.write_log(SMALL, contexts, EXTRA if extra else ()), contexts, extra


def outcome_of(observed):
    scores = [entry.outcome for entry in observed if entry.outcome is not None]
    return np.float32(scores[-1]) if scores else np.float32("nan")


def read_with_reference(log: bytes, problem: Problem):
    body = log.index(b"\n") + 1
    layout = read_header(log[: body - 1], problem, "training log in memory")
    scan = functools.partial(training_log_reference.scan, log, body, layout)
    return interpret(scan, layout, problem, "training log in memory")


def read_with_file(log: bytes, problem: Problem, **options):
    with tempfile.NamedTemporaryFile() as file:
        file.write(log)
        file.flush()
        return read_training_log(file.name, problem, name="training log in memory", **options)


READERS = (read_with_reference, read_with_file)


def outcome_of_reading(reader, log, problem=SMALL):
    """What a reader says of a log, comparable: arrays or the error's text."""
    try:
        read = reader(log, problem)
    except TrainingLogError as error:
        return str(error)
    return (
        read.contexts,
        read.observation_context.tobytes(),
        [(name, array.dtype, array.shape, array.tobytes()) for name, array in read.features.items()],
        read.actions.tobytes(),
        read.outcomes.tobytes(),
        [(name, array.tobytes()) for name, array in read.extra_outputs.items()],
    )


class ValidLogTest(unittest.TestCase):
    def test_every_type_of_llvm(self):
        # SUPPORTED_TENSOR_TYPES of LLVM 22.1.8.
        types = "float double int8_t uint8_t int16_t uint16_t int32_t uint32_t int64_t uint64_t".split()
        self.assertEqual(sorted(NUMPY_NAME_OF_LOG_TYPE), sorted(types))
        written = {}
        for spec in EVERY_TYPE.observation_specs:
            limits = np.finfo(spec.dtype) if spec.dtype.startswith("float") else np.iinfo(spec.dtype)
            written[spec.name] = np.array([limits.min, limits.max], spec.dtype)
        rows = [(*(values[row] for values in written.values()), np.int64(row)) for row in range(2)]
        observed = [Observation(values, 1.0 + row) for row, values in enumerate(rows)]
        log = log_writer.write_log(EVERY_TYPE, [("f", observed)])
        for reader in READERS:
            read = reader(log, EVERY_TYPE)
            for name, values in written.items():
                self.assertEqual(read.features[name].dtype, values.dtype)
                self.assertEqual(read.features[name].reshape(2).tolist(), values.tolist())

    @hypothesis.given(logs())
    def test_every_reader_returns_what_was_written(self, case):
        log, contexts, extra = case
        for reader in READERS:
            read = reader(log, SMALL)
            flat = [entry for _, observed in contexts for entry in observed]
            self.assertEqual(read.contexts, [name for name, _ in contexts])
            self.assertEqual(read.observation_count, len(flat))
            legal = read.features["legal"]
            self.assertEqual((legal.shape, legal.dtype), ((len(flat), 1, 3), np.int64))
            self.assertEqual(read.features["size"].shape, (len(flat), 1))
            self.assertEqual(read.observation_context.dtype, np.int32)
            for row, entry in enumerate(flat):
                np.testing.assert_array_equal(read.features["legal"][row, 0], entry.values[0])
                np.testing.assert_array_equal(read.features["size"][row], entry.values[1])
                self.assertEqual(read.actions[row], entry.values[-1][0])
                if extra:
                    np.testing.assert_array_equal(read.extra_outputs["logits"][row], entry.values[2])
            owners = [index for index, (_, observed) in enumerate(contexts) for _ in observed]
            np.testing.assert_array_equal(read.observation_context, owners)
            np.testing.assert_array_equal(read.outcomes, [outcome_of(observed) for _, observed in contexts])

    def test_eviction_log_large_enough_for_large_pages(self):
        random = np.random.default_rng(1)
        contexts = [
            (f"function {index}", [log_writer.plausible_observation(EVICTION, random, float(i)) for i in range(index)])
            for index in range(60)
        ]
        log = log_writer.write_log(EVICTION, contexts)
        self.assertGreater(len(log), 4 << 20)
        self.assertEqual(*(outcome_of_reading(reader, log, EVICTION) for reader in READERS))
        read = read_with_file(log, EVICTION)
        self.assertEqual(read.observation_count, sum(range(60)))
        self.assertTrue(np.isnan(read.outcomes[0]))
        self.assertEqual(read.outcomes[59], 58.0)

    def test_the_same_function_opened_twice_in_a_row_is_one_context(self):
        entry = log_writer.plausible_observation(SMALL, np.random.default_rng(0))
        header, f, g = log_writer.header(SMALL), log_writer.context("f"), log_writer.context("g")
        log = header + f + f + log_writer.observation(0, entry.values) + f + log_writer.outcome(0, 7.0) + g
        for reader in READERS:
            read = reader(log, SMALL)
            self.assertEqual(read.contexts, ["f", "g"])
            self.assertEqual(list(read.observation_context), [0])
            self.assertEqual(read.outcomes[0], 7.0)
            self.assertTrue(np.isnan(read.outcomes[1]))

    def test_problems_without_mask(self):
        for problem in (INLINING, PRIORITY):
            random = np.random.default_rng(0)
            entries = [log_writer.plausible_observation(problem, random) for _ in range(5)]
            for extra in ((), EXTRA):
                at, added = len(problem.observation_specs), [np.zeros(spec.shape, spec.dtype) for spec in extra]
                observed = [Observation((*entry.values[:at], *added, *entry.values[at:])) for entry in entries]
                log = read_with_file(log_writer.write_log(problem, [("", observed)], extra), problem)
                np.testing.assert_array_equal(log.actions, np.concatenate([entry.values[-1] for entry in entries]))
                self.assertEqual(np.isnan(log.outcomes[0]), problem.logged_score_spec is None)
                default = problem.default_decision_spec
                if default is not None:
                    found = log.extra_outputs[default.name].reshape(-1)
                    np.testing.assert_array_equal(found, np.concatenate([entry.values[-2] for entry in entries]))

    def test_context_longer_than_the_read_buffer(self):
        log = log_writer.write_log(SMALL, [("x" * 600_000, []), ("y", [])])
        for reader in READERS:
            self.assertEqual(reader(log, SMALL).contexts, ["x" * 600_000, "y"])

    def test_escaped_names(self):
        name = 'operator "" _x\\\t\u00e9\u2028'
        for escaped in (True, False):
            line = json.dumps({"context": name}, ensure_ascii=escaped).replace('": ', '":').encode() + b"\n"
            for reader in READERS:
                self.assertEqual(reader(log_writer.header(SMALL) + line, SMALL).contexts, [name])


class DamagedLogTest(unittest.TestCase):
    @hypothesis.given(logs(), strategies.data())
    def test_truncation_is_an_error_or_ends_between_entries(self, case, data):
        log = case[0]
        cut = log[: data.draw(strategies.integers(0, len(log) - 1))]
        said = outcome_of_reading(read_with_file, cut)
        if b"\n" in cut:
            self.assertEqual(outcome_of_reading(read_with_reference, cut), said)
        if not isinstance(said, str):
            self.assertTrue(cut.endswith(b"\n"))
            self.assertTrue(said[0])

    @hypothesis.given(logs(), strategies.data())
    def test_changed_bytes_never_crash_and_the_scanners_agree(self, case, data):
        log = bytearray(case[0])
        body = log.index(b"\n") + 1
        for _ in range(data.draw(strategies.integers(1, 3))):
            log[data.draw(strategies.integers(body, len(log) - 1))] = data.draw(strategies.integers(0, 255))
        said = {repr(outcome_of_reading(reader, bytes(log))) for reader in READERS}
        self.assertEqual(len(said), 1, said)

    @hypothesis.given(strategies.binary(max_size=200))
    def test_garbage_after_the_header_is_an_error(self, garbage):
        log = log_writer.header(SMALL) + b"\0" + garbage
        said = {outcome_of_reading(reader, log) for reader in READERS}
        self.assertEqual(len(said), 1, said)
        self.assertIsInstance(said.pop(), str)

    @hypothesis.given(strategies.binary(max_size=200))
    def test_garbage_is_an_error(self, garbage):
        with self.assertRaisesRegex(TrainingLogError, "header|compile the module again|use the development clang"):
            read_with_file(garbage, SMALL)

    def check(self, body: bytes, expected: str):
        log = log_writer.header(SMALL) + body
        for reader in READERS:
            with self.assertRaisesRegex(TrainingLogError, f"{re.escape(expected)}.*compile the module again"):
                reader(log, SMALL)

    def test_nothing_is_compiled_of_a_module_without_code(self):
        log = read_with_file(log_writer.header(SMALL), SMALL, no_code=lambda: True)
        self.assertEqual((log.contexts, log.observation_count, len(log.outcomes)), ([], 0, 0))

    def test_each_damage_has_its_offset_and_words(self):
        entry = log_writer.plausible_observation(SMALL, np.random.default_rng(0))
        start = len(log_writer.header(SMALL))
        context = log_writer.context("f")
        whole = log_writer.observation(0, entry.values)
        line = len(b'{"observation":0}\n')
        wrong_action = log_writer.observation(0, (*entry.values[:-1], np.array([3])))
        at = start + len(context)
        self.check(b"", "holds no context")
        self.check(context + b'{"obser', f"at byte {at}: the log ends inside a line (after 0 whole observations)")
        self.check(context + b"hello\n", f"at byte {at}: this is no context, observation or outcome line")
        self.check(context + whole[:-5], f"at byte {at + line}: the log ends inside a tensor")
        self.check(context + whole[:-1], f"at byte {at + len(whole) - 1}: the newline after the tensors is missing")
        self.check(context + whole[:-1] + b"!", f"at byte {at + len(whole) - 1}: the newline after the tensors")
        wrong = "the observation does not have the number after the previous one's (after 1 whole observations)"
        self.check(context + whole + whole, f"at byte {at + len(whole)}: {wrong}")
        self.check(context + whole + log_writer.outcome(1, 0), "the outcome does not belong to the last observation")
        self.check(whole, f"at byte {start}: an observation or outcome comes before the first context")
        self.check(context + wrong_action, f"at byte {at + len(whole) - 9}: the decision is not one of 0..2")
        self.check(context + b"x" * ((1 << 20) + 1) + b"\n", "longer than the 1 MiB")
        self.check(b'{"context":1}\n', f"at byte {start}: the context line b'{{\"context\":1}}'")

    def test_an_outcome_without_a_declared_score(self):
        log = log_writer.header(SMALL, has_score=False) + log_writer.context("f") + log_writer.outcome(0, 1)
        for reader in READERS:
            with self.assertRaisesRegex(TrainingLogError, "declares no score"):
                reader(log, SMALL)


class HeaderTest(unittest.TestCase):
    def check(self, log: bytes, expected: str, problem: Problem = SMALL):
        with self.assertRaisesRegex(TrainingLogError, re.escape(expected)):
            read_with_file(log, problem)

    def test_a_log_of_another_problem(self):
        wrong = "the decision of regalloc_eviction is index_to_evict int64_t[1], this log's is choice"
        self.check(log_writer.write_log(SMALL, [("f", [])]), wrong, EVICTION)

    def test_another_shape_dtype_order_or_count(self):
        header = json.loads(log_writer.header(SMALL))
        legal = "feature 0 of small is legal int64_t[1, 3], in this log it is"
        size = "feature 1 of small is size float[1]"
        for change, expected in (
            (lambda f: f[0].update(shape=[1, 4]), f"{legal} legal int64_t[1, 4]"),
            (lambda f: f[1].update(type="int64_t"), f"{size}, in this log it is size int64_t[1]"),
            (lambda f: f.insert(0, f.pop(1)), f"{legal} size float[1]"),
            (lambda f: f.pop(1), f"{size}, in this log it is absent"),
            (lambda f: f.pop(), "this log's is size float[1]"),
            (lambda f: f.clear(), "this log's is nothing"),
            (lambda f: f.insert(2, f[0]), "names 'legal' twice"),
            (lambda f: f[0].update(type="bfloat16"), "'bfloat16' is none of float, double, int8_t"),
            (lambda f: f[0].update(shape=[-1]), "empty, negative or too large"),
            (lambda f: f[0].update(shape=[1 << 40]), "empty, negative or too large"),
            (lambda f: f.insert(2, f[1] | {"name": "other", "shape": [1] * 100}), "empty, negative or too large"),
            (lambda f: f[0].pop("name"), "KeyError('name')"),
        ):
            features = json.loads(json.dumps(header["features"]))
            change(features)
            line = json.dumps({**header, "features": features}).encode()
            self.check(line + b'\n{"context":"f"}\n', expected)

    def test_another_score_or_default(self):
        small = json.loads(log_writer.header(SMALL))["score"]
        features = json.loads(log_writer.header(INLINING))["features"]
        other = [*features[:-2], features[-2] | {"name": "other"}, features[-1]]
        score = features[-1] | {"name": "delta_size"}
        for problem, change, expected in (
            (SMALL, {"score": small | {"name": "size"}}, "small is reward float[1], this log's is size float[1]"),
            (INLINING, {"features": other}, "stands inlining_default int64_t[1], in this log other int64_t[1]"),
            (INLINING, {"score": score}, "inlining_for_size is absent, this log's is delta_size int64_t[1]"),
        ):
            header = json.loads(log_writer.header(problem)) | change
            self.check(json.dumps(header).encode() + b"\n", expected, problem)

    def test_no_header(self):
        self.check(b"", "is empty")
        self.check(b"{", "has no header line")
        self.check(b" " * (1 << 21), "has no newline in its first 1048576 bytes")
        self.check(b"[" * 100_000 + b"\n", "nested too deeply")
        self.check(b"[]\n", 'not an object with a list "features"')

    def test_what_is_no_file(self):
        with self.assertRaisesRegex(TrainingLogError, "absent.log: was not written: the compile ended well"):
            read_training_log("/nonexistent/absent.log", SMALL)
        path = os.path.join(self.enterContext(tempfile.TemporaryDirectory()), "pipe")
        os.mkfifo(path)
        with self.assertRaisesRegex(TrainingLogError, "cannot be read: it is a pipe, not a file"):
            read_training_log(path, SMALL)

    def test_native_capacity_is_enforced(self):
        entry = log_writer.plausible_observation(SMALL, np.random.default_rng(0))
        log = log_writer.write_log(SMALL, [("f", [entry, entry])])
        body = log.index(b"\n") + 1
        layout = read_header(log[: body - 1], SMALL, "log")
        with tempfile.TemporaryFile() as file:
            file.write(log)
            file.seek(body)
            with self.assertRaises(ScanFailure) as caught:
                training_log_scan.scan_file(file.fileno(), body, 80, layout)
        self.assertEqual(caught.exception.error.name, "TOO_MANY_OBSERVATIONS")
