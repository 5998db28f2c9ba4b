"""Policies on disk: equal bytes, equal decisions in every runtime, what LLVM asks for, refusals."""

import json
import pathlib
import tempfile
import unittest

import numpy as np
import tensorflow as tf

from mlgo.learning.exact_network import exact_network
from mlgo.learning.network import NetworkConfig, PolicyNetwork, initial_network
from mlgo.learning.normalization import build_normalizer
from mlgo.learning.observations import pack
from mlgo.learning.testing import synthetic
from mlgo.policy import graph, tflite
from mlgo.policy.collection import CollectionPolicy
from mlgo.policy.directory import load_policy
from mlgo.policy.saved_model import save_policy, saved_model_bytes
from mlgo.problems.regalloc_eviction.problem import PROBLEM as EVICTION
from mlgo.run.exit_codes import RunError

_BUILTIN = tf.lite.experimental.OpResolverType.BUILTIN_WITHOUT_DEFAULT_DELEGATES  # As in LLVM: without XNNPACK.


def _trained(network: PolicyNetwork, seed: int) -> PolicyNetwork:
    """Weights as unlike fresh ones as training makes them."""
    random = np.random.default_rng(seed)
    return network.with_weights(
        {
            name: (2 * weight + 0.05 * random.standard_normal(weight.shape)).astype(np.float32)
            for name, weight in network.weights.items()
        }
    )


def _synthetic_network(seed: int = 1) -> PolicyNetwork:
    return _trained(initial_network(synthetic.normalizer(), seed), seed)


def _eviction_network() -> PolicyNetwork:
    quantiles = {spec.name: np.linspace(0, 1, 1001) ** 3 for spec in EVICTION.observation_specs}
    quantiles |= {name: np.arange(6.0) for name in ("max_stage", "min_stage")}
    return _trained(initial_network(build_normalizer(quantiles, EVICTION), 3), 3)


def _eviction_observations(count: int) -> dict[str, np.ndarray]:
    """Observations that are harder than LLVM's: NaN, infinities, subnormal and huge numbers, ties, garbage under the
    mask.
    """
    random = np.random.default_rng(0)
    features = {}
    for spec in EVICTION.observation_specs:
        if spec.dtype == "int64":
            features[spec.name] = random.integers(-1, 7, (count, *spec.shape))
            features[spec.name][random.random((count, *spec.shape)) < 0.01] = 2**40
        else:
            value = random.random((count, *spec.shape)) ** random.integers(1, 12, (count, *spec.shape))
            odd = random.choice([0, 1, np.nan, np.inf, -np.inf, 1e-42, -1, 3e38], (count, *spec.shape))
            features[spec.name] = np.where(random.random(value.shape) < 0.1, odd, value).astype(np.float32)
    legal = random.random((count, 1, 33)) < 0.2
    legal[np.arange(count), 0, random.integers(0, 33, count)] = True
    twins = np.flatnonzero(random.random(count) < 0.3)  # All candidates alike: only ties.
    for name in features:
        features[name][twins] = features[name][twins][..., :1]
    features["mask"] = legal.astype(np.int64)
    return features


def _first_legal(features: dict[str, np.ndarray], mask: str) -> np.ndarray:
    return features[mask][:, 0].argmax(axis=1)


def _tflite_decisions(model: bytes, features: dict[str, np.ndarray], **options) -> np.ndarray:
    interpreter = tf.lite.Interpreter(model_content=model, **options)
    interpreter.allocate_tensors()
    inputs = [
        (d["index"], d["name"].removeprefix("action_").removesuffix(":0")) for d in interpreter.get_input_details()
    ]
    (output,) = interpreter.get_output_details()
    decisions = []
    for n in range(len(next(iter(features.values())))):
        for index, name in inputs:
            interpreter.set_tensor(index, features[name][n])
        interpreter.invoke()
        decisions.append(interpreter.get_tensor(output["index"])[0])
    return np.array(decisions)


class DecisionsTest(unittest.TestCase):
    def test_every_runtime_decides_alike(self):
        network = _eviction_network()
        exact = exact_network(network.weights)
        count = 1500
        features = _eviction_observations(count)
        packed = pack(features, _first_legal(features, "mask"), network.normalizer, EVICTION)
        expected = exact.decisions(packed)
        self.assertTrue((features["mask"][np.arange(count), 0, expected] == 1).all())
        self.assertGreater(len(np.unique(expected)), 20)

        model = tflite.template_for(network, EVICTION, exploring=False).model(exact)
        np.testing.assert_array_equal(
            _tflite_decisions(model, features, experimental_op_resolver_type=_BUILTIN), expected
        )
        np.testing.assert_array_equal(_tflite_decisions(model, features), expected)  # With XNNPACK.

        policy = graph.build_graph(EVICTION, network.normalizer, exact)
        wrapped = tf.compat.v1.wrap_function(
            lambda *inputs: tf.graph_util.import_graph_def(
                policy.graph.as_graph_def(),
                {placeholder.op.name: value for placeholder, value in zip(policy.inputs.values(), inputs)},
                [policy.output.name],
            )[0],
            [tf.TensorSpec(spec.shape, spec.dtype) for spec in EVICTION.observation_specs],
        )
        compiled = tf.function(wrapped, jit_compile=True)
        for name, run in (("TensorFlow", wrapped), ("XLA", compiled)):
            got = [
                run(*[tf.constant(features[spec.name][n]) for spec in EVICTION.observation_specs]).numpy()[0]
                for n in range(count)
            ]
            np.testing.assert_array_equal(got, expected, err_msg=name)

    def test_drawing_follows_softmax_and_its_seed(self):
        network = _synthetic_network()
        one = synthetic.features(np.random.default_rng(4), 1)
        one["legal"][0] = [1, 0, 1, 1, 1]
        packed = pack(one, np.array([0]), network.normalizer, synthetic.PROBLEM)
        logits = exact_network(network.weights).row_logits(packed.levels).astype(np.float64)
        expected = np.exp(logits) / np.exp(logits).sum()
        template = tflite.template_for(network, synthetic.PROBLEM, exploring=True)
        many = {name: np.repeat(value, 20000, axis=0) for name, value in one.items()}
        models = [template.model(exact_network(network.weights), seed) for seed in (1, 1, 2)]
        draws = [_tflite_decisions(model, many) for model in models]
        np.testing.assert_array_equal(draws[0], draws[1])
        self.assertFalse(np.array_equal(draws[0], draws[2]))
        for each in draws:
            shares = np.bincount(each, minlength=5)[[0, 2, 3, 4]] / len(each)
            np.testing.assert_allclose(shares, expected, atol=0.015)  # 4 standard deviations.


class ModelTest(unittest.TestCase):
    def test_replacing_weights_equals_converting_them(self):
        network = _synthetic_network(2)
        exact = exact_network(network.weights)
        template = tflite.template_for(_synthetic_network(3), synthetic.PROBLEM, exploring=False)
        policy = graph.build_graph(synthetic.PROBLEM, network.normalizer, exact)
        converted = tflite._normalise(tflite._convert(policy), policy)  # pylint: disable=protected-access
        self.assertEqual(template.model(exact), converted)

    def test_inputs_and_output_are_what_llvm_looks_for(self):
        network = _synthetic_network()
        with tempfile.TemporaryDirectory() as folder:
            save_policy(network, synthetic.PROBLEM, folder)
            out = tflite.convert(folder, pathlib.Path(folder) / "tflite", synthetic.PROBLEM)
            spec = json.loads((out / "output_spec.json").read_text())
            interpreter = tf.lite.Interpreter(model_content=(out / "model.tflite").read_bytes())
        names = [f"action_{spec.name}:0" for spec in synthetic.PROBLEM.observation_specs]
        self.assertEqual([d["name"] for d in interpreter.get_input_details()], names)
        self.assertEqual([d["index"] for d in interpreter.get_input_details()], list(range(len(names))))
        (output,) = interpreter.get_output_details()
        self.assertEqual(output["name"], "choice:0")
        tensor = {"name": "choice", "port": 0, "type": "int64_t", "shape": [1]}
        self.assertEqual(spec, [{"logging_name": "choice", "tensor_spec": tensor}])

    def test_seeds_and_shapes_must_fit_the_template(self):
        exact = exact_network(_synthetic_network().weights)
        template = tflite.template_for(_synthetic_network(), synthetic.PROBLEM, exploring=False)
        with self.assertRaisesRegex(ValueError, "exploration_seed=1 for a template"):
            template.model(exact, 1)
        with self.assertRaisesRegex(ValueError, "sizes .* for a template of sizes"):
            template.model(exact_network(_eviction_network().weights))

    def test_collection_writes_and_removes(self):
        network = _synthetic_network()
        with tempfile.TemporaryDirectory() as folder:
            policy = CollectionPolicy(synthetic.PROBLEM, folder)
            first, second = policy.write(network, "lib/a.cpp", 1), policy.write(network, "lib/a%cpp", 2)
            self.assertEqual({path.name for path in first.iterdir()}, {"model.tflite", "output_spec.json"})
            self.assertNotEqual((first / "model.tflite").read_bytes(), (second / "model.tflite").read_bytes())
            policy.remove("lib/a.cpp")
            policy.remove("never written")
            self.assertEqual(list(pathlib.Path(folder).iterdir()), [second])
            greedy = policy.write(network, "greedy", None)
            self.assertTrue((greedy / "model.tflite").exists())
            small = initial_network(synthetic.normalizer(), 1, NetworkConfig((8,)))
            other = (policy.write(small, "other layers", None) / "model.tflite").read_bytes()
            expected = tflite.template_for(small, synthetic.PROBLEM, exploring=False).model(
                exact_network(small.weights)
            )
            self.assertEqual(other, expected)


class SavedModelTest(unittest.TestCase):
    def test_equal_weights_give_equal_bytes_and_no_path(self):
        with tempfile.TemporaryDirectory() as folder:
            one, two = pathlib.Path(folder, "one"), pathlib.Path(folder, "two")
            save_policy(_synthetic_network(), synthetic.PROBLEM, one, {"seed": 1})
            tf.constant(1) + tf.constant(2)  # What the process does in between must not show.
            save_policy(_synthetic_network(), synthetic.PROBLEM, two, {"seed": 1})
            for path in one.iterdir():
                self.assertEqual(path.read_bytes(), (two / path.name).read_bytes(), path.name)
                self.assertNotIn(folder.encode(), path.read_bytes())
            self.assertNotEqual(
                (one / "saved_model.pb").read_bytes(), saved_model_bytes(_synthetic_network(2), synthetic.PROBLEM)
            )

    def test_the_signature_names_features_and_decision(self):
        with tempfile.TemporaryDirectory() as folder:
            save_policy(_synthetic_network(), synthetic.PROBLEM, folder)
            action = tf.saved_model.load(folder).signatures["action"]
            inputs = action.structured_input_signature[1]
            self.assertEqual(
                {name: (spec.dtype.name, tuple(spec.shape)) for name, spec in inputs.items()},
                {spec.name: (spec.dtype, spec.shape) for spec in synthetic.PROBLEM.observation_specs},
            )
            values = synthetic.features(np.random.default_rng(0), 1)
            decision = action(**{name: tf.constant(value[0]) for name, value in values.items()})["choice"]
            self.assertEqual((decision.dtype, decision.shape), (tf.int64, (1,)))

    def test_what_was_saved_is_loaded(self):
        network = _synthetic_network()
        with tempfile.TemporaryDirectory() as folder:
            save_policy(network, synthetic.PROBLEM, folder, {"corpus": "abc"})
            loaded, record = load_policy(folder, synthetic.PROBLEM)
            self.assertEqual(record["training"], {"corpus": "abc"})
            self.assertEqual(loaded.normalizer, network.normalizer)
            for name, value in network.weights.items():
                np.testing.assert_array_equal(loaded.weights[name], value)
            with self.assertRaisesRegex(RunError, "is for 'synthetic', not for 'regalloc_eviction'"):
                load_policy(folder, EVICTION)
            pathlib.Path(folder, "weights.npz").write_bytes(b"other")
            with self.assertRaisesRegex(RunError, "weights.npz.: is not the one that policy.json names"):
                load_policy(folder, synthetic.PROBLEM)
            pathlib.Path(folder, "policy.json").unlink()
            with self.assertRaisesRegex(RunError, "does not exist. Name a directory"):
                load_policy(folder, synthetic.PROBLEM)


if __name__ == "__main__":
    unittest.main()
