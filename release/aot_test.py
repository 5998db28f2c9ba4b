"""Policies that cannot be embedded are refused in one sentence; those that can give the same bytes every time."""

import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import unittest

from mlgo.problems.problem import load_problem
from mlgo.run.exit_codes import RunError
from release import aot

PROBLEM = load_problem("regalloc_eviction")
INPUTS = {spec.name: (spec.dtype, spec.shape) for spec in PROBLEM.observation_specs}
OUTPUTS = {PROBLEM.action_spec.name: (PROBLEM.action_spec.dtype, PROBLEM.action_spec.shape)}


def write_saved_model(folder: pathlib.Path, signature: str = "action", output: str = "index_to_evict") -> None:
    """A policy that takes the lowest legal position."""
    import tensorflow as tf

    def decide(**features):
        return {output: tf.argmax(features["mask"], axis=1)}

    specs = {name: tf.TensorSpec(shape, dtype, name=name) for name, (dtype, shape) in INPUTS.items()}
    module = tf.Module()
    module.decide = tf.function(decide)
    tf.saved_model.save(module, str(folder), signatures={signature: module.decide.get_concrete_function(**specs)})


class SignatureTest(unittest.TestCase):

    def check(self, expected: str | None, inputs=None, outputs=None):
        found = aot.signature_mismatch(INPUTS | (inputs or {}), OUTPUTS if outputs is None else outputs, PROBLEM)
        if expected is None:
            self.assertIsNone(found)
        else:
            self.assertRegex(found or "no mismatch", expected)

    def test_all_features(self):
        self.check(None)

    def test_features_may_be_left_out(self):
        self.assertIsNone(aot.signature_mismatch({"mask": INPUTS["mask"]}, OUTPUTS, PROBLEM))

    def test_mask_may_not(self):
        self.assertRegex(aot.signature_mismatch({"progress": INPUTS["progress"]}, OUTPUTS, PROBLEM), "ignores 'mask'")

    def test_unknown_feature(self):
        self.check("input 'action_mask', which the compiler does not know.*is_free", {"action_mask": ("int64", (1, 33))})

    def test_other_type_or_shape(self):
        self.check(r"'mask' as float32\[1, 33\] instead of int64\[1, 33\]", {"mask": ("float32", (1, 33))})
        self.check(r"'progress' as float32\[-1\] instead of float32\[1\]", {"progress": ("float32", (-1,))})

    def test_outputs(self):
        self.check(r"outputs \['reward'\] instead of \['index_to_evict'\]", outputs={"reward": ("float32", (1,))})
        self.check(r"'index_to_evict' as int32\[1\]", outputs={"index_to_evict": ("int32", (1,))})


class CompileTest(unittest.TestCase):

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def refuse(self, policy: pathlib.Path) -> str:
        with self.assertRaises(RunError) as raised:
            aot.compile_policy(policy, PROBLEM, "mlgo::EvictionPolicy", self.folder / "x.h", self.folder / "x.o")
        message = str(raised.exception)
        self.assertNotIn("\n", message)
        self.assertIn(str(policy), message)
        self.assertIn("--//release:eviction_policy", message)
        return message

    def test_not_a_saved_model(self):
        (self.folder / "model.tflite").touch()
        self.assertIn("saved_model.pb is missing (found ['model.tflite'])", self.refuse(self.folder))
        self.assertIn("no directory", self.refuse(self.folder / "absent"))

    def test_damaged(self):
        (self.folder / "saved_model.pb").write_bytes(b"\xff garbage")
        self.assertIn("cannot be read as a SavedModel", self.refuse(self.folder))

    def test_other_signature(self):
        write_saved_model(self.folder / "policy", signature="reward")
        self.assertRegex(self.refuse(self.folder / "policy"), "no signature 'action'.*reward")

    def test_other_decision(self):
        write_saved_model(self.folder / "policy", output="inlining_decision")
        self.assertIn("['inlining_decision']", self.refuse(self.folder / "policy"))

    def test_same_bytes_from_other_place_process_and_directory(self):
        write_saved_model(self.folder / "policy")
        results = []
        for seed, place in enumerate(("near", "far/away")):
            policy = shutil.copytree(self.folder / "policy", self.folder / place / "policy")
            outputs = policy.parent / "p.h", policy.parent / "p.o"
            command = [sys.executable, aot.__file__, f"--policy={policy}", "--cpp_class=mlgo::EvictionPolicy",
                       f"--header={outputs[0]}", f"--object={outputs[1]}"]
            environment = dict(os.environ, PYTHONHASHSEED=str(seed), PYTHONPATH=os.pathsep.join(sys.path))
            subprocess.run(command, cwd=policy, env=environment, check=True, capture_output=True)
            results.append([output.read_bytes() for output in outputs])
        self.assertEqual(results[0], results[1])
        for content in results[0]:
            self.assertNotIn(str(self.folder).encode(), content)
            self.assertNotIn(b"mlgo_aot_", content)
        self.assertIn(b"class EvictionPolicy final", results[0][0])


if __name__ == "__main__":
    unittest.main()
