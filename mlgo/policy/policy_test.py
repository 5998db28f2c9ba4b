"""Policies on disk: equal bytes, what LLVM asks for."""

import json

import numpy as np
import tensorflow as tf

from mlgo.learning.exact_network import exact_network
from mlgo.learning.network import NetworkConfig, PolicyNetwork, initial_network
from mlgo.learning.testing import synthetic
from mlgo.policy.collection import CollectionPolicy
from mlgo.policy.directory import load_policy
from mlgo.policy.graph import build_graph
from mlgo.policy.saved_model import save_policy, saved_model_bytes
from mlgo.policy.tflite import TfliteTemplate, convert, converted_model
from mlgo.run.testing.folder_case import FolderCase


def _network(seed: int = 1, *config: NetworkConfig) -> PolicyNetwork:
    return synthetic.as_trained(initial_network(synthetic.normalizer(), seed, *config), seed)


class ModelTest(FolderCase):
    def test_replacing_weights_equals_converting_them(self):
        network = _network(2)
        exact = exact_network(network.weights)
        template = TfliteTemplate(_network(3), synthetic.PROBLEM, exploring=False)
        converted = converted_model(build_graph(synthetic.PROBLEM, network.normalizer, exact))
        self.assertEqual(template.model(exact), converted)

    def test_inputs_and_output_are_what_llvm_looks_for(self):
        save_policy(_network(), synthetic.PROBLEM, self.folder)
        out = convert(self.folder, self.folder / "tflite", synthetic.PROBLEM)
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
        template = TfliteTemplate(_network(), synthetic.PROBLEM, exploring=False)
        with self.assertRaisesRegex(ValueError, "exploration_seed=1 for a template"):
            template.model(exact_network(_network().weights), 1)
        with self.assertRaisesRegex(ValueError, "sizes .* for a template of sizes"):
            template.model(exact_network(_network(1, NetworkConfig((8,))).weights))

    def test_collection_writes_and_removes(self):
        network = _network()
        policy = CollectionPolicy(synthetic.PROBLEM, self.folder)
        first, second = policy.write(network, "lib/a.cpp", 1), policy.write(network, "lib/a%cpp", 2)
        self.assertEqual({path.name for path in first.iterdir()}, {"model.tflite", "output_spec.json"})
        self.assertNotEqual((first / "model.tflite").read_bytes(), (second / "model.tflite").read_bytes())
        policy.remove("lib/a.cpp")
        policy.remove("never written")
        self.assertEqual(list(self.folder.iterdir()), [second])
        greedy = policy.write(network, "as long as/a module's name\udcff may be/" * 30, None)
        self.assertTrue((greedy / "model.tflite").exists())
        small = _network(1, NetworkConfig((8,)))
        other = (policy.write(small, "other layers", None) / "model.tflite").read_bytes()
        template = TfliteTemplate(small, synthetic.PROBLEM, exploring=False)
        self.assertEqual(other, template.model(exact_network(small.weights)))


class SavedModelTest(FolderCase):
    def test_equal_weights_give_equal_bytes_and_no_path(self):
        one, two = self.folder / "one", self.folder / "two"
        save_policy(_network(), synthetic.PROBLEM, one, {"seed": 1})
        tf.constant(1) + tf.constant(2)  # What the process does in between must not show.
        save_policy(_network(), synthetic.PROBLEM, two, {"seed": 1})
        for path in one.iterdir():
            self.assertEqual(path.read_bytes(), (two / path.name).read_bytes(), path.name)
            self.assertNotIn(str(self.folder).encode(), path.read_bytes())
        self.assertNotEqual((one / "saved_model.pb").read_bytes(), saved_model_bytes(_network(2), synthetic.PROBLEM))

    def test_the_signature_names_features_and_decision(self):
        save_policy(_network(), synthetic.PROBLEM, self.folder)
        action = tf.saved_model.load(str(self.folder)).signatures["action"]
        inputs = action.structured_input_signature[1]
        found = {name: (spec.dtype.name, tuple(spec.shape)) for name, spec in inputs.items()}
        self.assertEqual(found, {spec.name: (spec.dtype, spec.shape) for spec in synthetic.PROBLEM.observation_specs})
        values = synthetic.features(np.random.default_rng(0), 1)
        decision = action(**{name: tf.constant(value[0]) for name, value in values.items()})["choice"]
        self.assertEqual((decision.dtype, decision.shape), (tf.int64, (1,)))

    def test_what_was_saved_is_loaded(self):
        network = _network()
        save_policy(network, synthetic.PROBLEM, self.folder, {"corpus": "abc"})
        loaded, record = load_policy(self.folder, synthetic.PROBLEM)
        self.assertEqual(record["training"], {"corpus": "abc"})
        self.assertEqual(loaded.normalizer, network.normalizer)
        self.assertEqual(loaded.weights.keys(), network.weights.keys())
        for name, value in network.weights.items():
            np.testing.assert_array_equal(loaded.weights[name], value)
