"""Policies that cannot be embedded are rejected with one error; others compile to the same bytes every time."""

import contextlib
import io
import json
import os
import pathlib
import shutil
import tempfile
import unittest
from unittest import mock

import numpy as np

from mlgo.policy.saved_model_signature import signature_mismatch
from mlgo.problems.problem import load_problem
from mlgo.run.exit_codes import RunError
from release.backends.aot import aot_policy, saved_model_compiler

PROBLEM = load_problem("regalloc_eviction")
INPUTS = {spec.name: (spec.dtype, spec.shape) for spec in PROBLEM.observation_specs}
OUTPUTS = {PROBLEM.action_spec.name: (PROBLEM.action_spec.dtype, PROBLEM.action_spec.shape)}


def write_saved_model(
    folder: pathlib.Path, signature="action", output="index_to_evict", inputs=None, weights=None
) -> None:
    """A policy that chooses the lowest legal position or, given `weights` (a variable), the largest weight."""
    import tensorflow as tf

    module = tf.Module()
    module.weights_of_positions = None if weights is None else tf.Variable(np.array(weights, np.float32))

    def decide(**features):
        mask = tf.cast(features["mask"], tf.float32)
        return {output: tf.argmax(mask if weights is None else mask * module.weights_of_positions, axis=1)}

    specs = {name: tf.TensorSpec(shape, dtype, name=name) for name, (dtype, shape) in (INPUTS | (inputs or {})).items()}
    module.decide = tf.function(decide)
    tf.saved_model.save(module, str(folder), signatures={signature: module.decide.get_concrete_function(**specs)})


class SignatureTest(unittest.TestCase):
    def check(self, expected: str, inputs=None, outputs=None):
        found = signature_mismatch(INPUTS | (inputs or {}), OUTPUTS if outputs is None else outputs, PROBLEM)
        self.assertRegex(found or "no mismatch", expected)

    def test_features_may_be_left_out_and_the_mask_may_not(self):
        self.check("no mismatch")
        self.assertIsNone(signature_mismatch({"mask": INPUTS["mask"]}, OUTPUTS, PROBLEM))
        found = signature_mismatch({"progress": INPUTS["progress"]}, OUTPUTS, PROBLEM)
        self.assertRegex(found or "no mismatch", "ignores 'mask'")

    def test_unknown_feature(self):
        self.check("wants the feature 'colour', which the compiler lacks .*is_free", {"colour": ("int64", (1, 33))})

    def test_other_type_or_shape(self):
        self.check(r"'mask' as float32\[1, 33\] instead of int64\[1, 33\]", {"mask": ("float32", (1, 33))})
        self.check(r"'progress' as float32\[-1\] instead of float32\[1\]", {"progress": ("float32", (-1,))})

    def test_outputs(self):
        self.check(r"outputs \['reward'\] instead of \['index_to_evict'\]", outputs={"reward": ("float32", (1,))})
        self.check(r"'index_to_evict' as int32\[1\]", outputs={"index_to_evict": ("int32", (1,))})


class CompileTest(unittest.TestCase):
    def setUp(self):
        self.folder = pathlib.Path(self.enterContext(tempfile.TemporaryDirectory()))
        self.policy = self.folder / "policy"

    def refuse(self, policy: pathlib.Path) -> str:
        """The message, from the command as the build's action runs it."""
        arguments = [
            f"--policy={policy}",
            "--problem=regalloc_eviction",
            "--cpp_class=mlgo::EvictionPolicy",
            f"--header={self.folder / 'x.h'}",
            f"--object={self.folder / 'x.o'}",
        ]
        printed = io.StringIO()
        with contextlib.redirect_stderr(printed):
            self.assertEqual(aot_policy.main(arguments), 2, printed.getvalue())
        message = printed.getvalue()
        self.assertEqual(message.count("\n"), 1, message)
        self.assertIn(str(policy), message)
        self.assertFalse((self.folder / "x.o").exists())
        return message

    def test_not_a_saved_model(self):
        (self.folder / "model.tflite").touch()
        message = self.refuse(self.folder)
        self.assertIn("saved_model.pb is missing (found ['model.tflite'])", message)
        self.assertIn("--//release:eviction_policy", message)
        self.assertIn("no directory", self.refuse(self.folder / "absent"))

    def test_damaged(self):
        (self.folder / "saved_model.pb").write_bytes(b"\xff garbage")
        self.assertIn("cannot be read as a SavedModel", self.refuse(self.folder))

    def test_other_signature(self):
        write_saved_model(self.policy, signature="reward")
        self.assertRegex(self.refuse(self.policy), "no signature 'action'.*reward")

    def test_other_decision(self):
        write_saved_model(self.policy, output="inlining_decision")
        self.assertIn("['inlining_decision']", self.refuse(self.policy))

    def test_other_shape(self):
        write_saved_model(self.policy, inputs={"mask": ("int64", (1, 32))})
        self.assertIn("'mask' as int64[1, 32] instead of int64[1, 33]", self.refuse(self.policy))

    def test_feature_that_the_compiler_lacks(self):
        write_saved_model(self.policy, inputs={"colour": ("float32", (1,))})
        message = self.refuse(self.policy)
        self.assertIn("wants the feature 'colour', which the compiler lacks", message)
        self.assertIn("Train the policy for this compiler", message)

    def test_policy_for_another_problem(self):
        write_saved_model(self.policy)
        (self.policy / "policy.json").write_text(json.dumps({"problem": "inlining_for_size"}))
        self.assertIn("is for 'inlining_for_size', not for 'regalloc_eviction'", self.refuse(self.policy))

    def test_weights_that_are_no_numbers(self):
        write_saved_model(self.policy, weights=[float("nan")] + [1.0] * 32)
        self.assertRegex(
            self.refuse(self.policy), r"tensor 'weights_of_positions' of shape \[33\] with 1 values that are NaN"
        )

    def test_weights_that_are_missing(self):
        write_saved_model(self.policy, weights=[1.0] * 33)
        shutil.rmtree(self.policy / "variables")
        self.assertRegex(self.refuse(self.policy), r"weights .*variables\.\*: cannot be read")

    def test_what_tensorflow_says_before_it_aborts_is_shown(self):
        write_saved_model(self.policy)
        program = self.folder / "aborts.py"
        program.write_text(
            "import os, sys\nprint('first\\nF0000 Check failed: shape', file=sys.stderr, flush=True)\nos.abort()\n"
        )
        with mock.patch.object(saved_model_compiler, "__file__", str(program)):
            self.assertIn("end by SIGABRT; it said: first / F0000 Check failed: shape", self.refuse(self.policy))

    def test_same_bytes_from_other_place_process_and_directory(self):
        write_saved_model(self.policy, weights=np.arange(33))
        results = []
        for seed, place in enumerate(("near", "far/away")):
            policy = shutil.copytree(self.policy, self.folder / place / "policy")
            outputs = policy.parent / "p.h", policy.parent / "p.o"
            before = os.getcwd()
            os.chdir(policy)
            try:
                with mock.patch.dict(os.environ, PYTHONHASHSEED=str(seed)):
                    aot_policy.compile_policy(policy, PROBLEM, "mlgo::EvictionPolicy", *outputs)
            except RunError as error:
                self.fail(str(error))
            finally:
                os.chdir(before)
            results.append([output.read_bytes() for output in outputs])
        self.assertEqual(results[0], results[1])
        for content in results[0]:
            self.assertNotIn(str(self.folder).encode(), content)
            self.assertNotIn(b"mlgo_aot_", content)
        self.assertIn(b"class EvictionPolicy final", results[0][0])


if __name__ == "__main__":
    unittest.main()
