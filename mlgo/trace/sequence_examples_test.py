"""TFRecord files of traces, read as ml-compiler-opt's data_reader does: by its feature names, dtypes and shapes."""

import numpy as np
import tensorflow as tf

from mlgo.problems.inlining_for_size.problem import PROBLEM as INLINING
from mlgo.problems.objective import LoggedScore
from mlgo.problems.problem import Problem
from mlgo.problems.regalloc_eviction.problem import PROBLEM as EVICTION
from mlgo.problems.regalloc_priority.problem import PROBLEM as PRIORITY
from mlgo.run.exit_codes import RunError
from mlgo.run.testing.folder_case import FolderCase
from mlgo.score.function_scores import FunctionScore
from mlgo.trace import arrays
from mlgo.trace.outcomes import ModuleRecord, Outcome
from mlgo.trace.sequence_examples import write_tfrecord
from mlgo.trace.trace import Trace

_CONTEXT = [0, 0, 0, 2, 2]
#: Names as ml-compiler-opt's signature specs and LLVM have them; eviction's are vectors of 33 there.
_PEERS_NAMES: dict[str, dict[str, tuple[tf.DType, tuple[int, ...]]]] = {
    INLINING.name: dict.fromkeys(("caller_users", "cost_estimate", "inlining_decision"), (tf.int64, ())),
    EVICTION.name: {
        "mask": (tf.int64, (33,)),
        "max_stage": (tf.int64, (33,)),
        "liverange_size": (tf.float32, (33,)),
        "progress": (tf.float32, ()),
        "index_to_evict": (tf.int64, ()),
    },
    PRIORITY.name: {"li_size": (tf.int64, ()), "weight": (tf.float32, ()), "priority": (tf.float32, ())},
}


def record(functions: dict[str, FunctionScore]) -> dict[str, ModuleRecord]:
    return {"m.c": ModuleRecord(Outcome.TRACED, functions=functions)}


class SequenceExamplesTest(FolderCase):
    def setUp(self):
        super().setUp()
        self.path = self.folder / "out" / "t.tfrecord"

    def trace(self, problem: Problem, functions: dict[str, FunctionScore], names=("f", "none", "g")) -> Trace:
        """A trace of the module m.c: three decisions in f, two in g."""
        random = np.random.default_rng(1)
        specs = problem.observation_specs
        found = {spec.name: (random.random((5, *spec.shape)) * 9).astype(spec.dtype) for spec in specs}
        found[":actions"] = (random.random(5) * 9).astype(problem.action_spec.dtype)
        found[":observation_context"] = np.array(_CONTEXT, np.int32)
        if names and isinstance(problem.score, LoggedScore):
            found[":contexts"] = np.frombuffer(str(list(names)).replace("'", '"').encode(), np.uint8)
        self.file("modules/m.c.arrays", arrays.encode(found))
        self.stored = found
        return Trace(self.folder, record(functions))

    def read(self, problem: Problem) -> list[dict[str, np.ndarray]]:
        features = {**_PEERS_NAMES[problem.name], "reward": (tf.float32, ())}
        wanted = {name: tf.io.FixedLenSequenceFeature(shape, dtype) for name, (dtype, shape) in features.items()}
        examples = []
        for example in tf.data.TFRecordDataset(str(self.path)):
            _, sequence = tf.io.parse_single_sequence_example(example, sequence_features=wanted)
            examples.append({name: tensor.numpy() for name, tensor in sequence.items()})
        return examples

    def test_one_example_per_function_where_the_compiler_logs_scores(self):
        default = record({"f": FunctionScore(3, 10.0), "g": FunctionScore(2, 8.0)})
        for problem in (EVICTION, PRIORITY):
            with self.subTest(problem.name):
                trace = self.trace(problem, {"f": FunctionScore(3, 5.0), "g": FunctionScore(2, 8.0)})
                self.assertEqual(write_tfrecord(self.path, trace, problem, default), 2)
                first, second = self.read(problem)
                for name in _PEERS_NAMES[problem.name]:
                    stored = self.stored[":actions" if name == problem.action_spec.name else name]
                    np.testing.assert_array_equal(first[name], stored[:3].reshape(first[name].shape))
                    np.testing.assert_array_equal(second[name], stored[3:].reshape(second[name].shape))
                np.testing.assert_allclose(first["reward"], [1 - 5.01 / 10.01] * 3, rtol=1e-6)
                np.testing.assert_array_equal(second["reward"], [0.0, 0.0])

    def test_one_example_per_module_for_sizes_of_code(self):
        found = {"f": FunctionScore(3, 60.0), "": FunctionScore(0, 30.0)}
        default = record({"f": FunctionScore(3, 70.0), "": FunctionScore(0, 30.0)})
        self.assertEqual(write_tfrecord(self.path, self.trace(INLINING, found), INLINING, default), 1)
        (example,) = self.read(INLINING)
        np.testing.assert_allclose(example["reward"], [1 - 90.01 / 100.01] * 5, rtol=1e-6)
        np.testing.assert_array_equal(example["inlining_decision"], self.stored[":actions"])

    def test_every_feature_is_written_and_equal_traces_give_equal_bytes(self):
        found = {"f": FunctionScore(3, 5.0), "g": FunctionScore(2, 8.0)}
        trace = self.trace(EVICTION, found)
        write_tfrecord(self.path, trace, EVICTION, trace.records)
        content = self.path.read_bytes()
        write_tfrecord(self.path, trace, EVICTION, trace.records)
        self.assertEqual(self.path.read_bytes(), content)
        example = next(iter(tf.data.TFRecordDataset(str(self.path)))).numpy()
        names = set(tf.train.SequenceExample.FromString(example).feature_lists.feature_list)
        self.assertEqual(names, {spec.name for spec in EVICTION.observation_specs} | {"index_to_evict", "reward"})
        self.assertEqual([path.name for path in self.path.parent.iterdir()], [self.path.name])

    def test_functions_that_are_not_on_both_sides_are_left_out(self):
        trace = self.trace(EVICTION, {"f": FunctionScore(3, 5.0), "g": FunctionScore(2, 8.0)})
        default = record({"g": FunctionScore(2, 8.0)})
        self.assertEqual(write_tfrecord(self.path, trace, EVICTION, default), 1)

    def test_names_that_are_missing_or_damaged_are_one_sentence(self):
        scores = {"f": FunctionScore(3, 5.0)}
        for names, message in (((), "has no names of functions"), (("f",), "has damaged names of functions")):
            trace = self.trace(EVICTION, scores, names)
            with self.subTest(message), self.assertRaisesRegex(RunError, message):
                write_tfrecord(self.path, trace, EVICTION, trace.records)
            self.assertFalse(self.path.exists())
