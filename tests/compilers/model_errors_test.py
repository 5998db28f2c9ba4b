"""A TensorFlow Lite model that the development clang cannot use ends the compile with one error and without a crash."""

import json
import os
import pathlib
import subprocess
import tempfile
import unittest

os.environ["TF_CPP_MIN_LOG_LEVEL"] = "3"

import tensorflow as tf
from tensorflow.lite.python import schema_py_generated as schema
from tensorflow.lite.tools import flatbuffer_utils

from mlgo.problems.problem import load_problem
from mlgo.run.locate import runfile

PROBLEMS = [load_problem(name) for name in ("regalloc_eviction", "inlining_for_size", "regalloc_priority")]
EVICTION = PROBLEMS[0]
SOURCE = """\
static int twice(int x) { return 2 * x; }
int f(int a, int b, int c) { return twice(a) * b + twice(b) / (c + a) - twice(c); }
"""


def write_model(folder: pathlib.Path, problem, **inputs) -> pathlib.Path:
    """A policy that decides by the sum of `inputs`: name -> (dtype, shape)."""

    def decide(**features):
        total = sum(tf.reduce_sum(tf.cast(value, tf.float32)) for value in features.values())
        return {
            problem.action_spec.name: tf.cast(tf.reshape(total, problem.action_spec.shape), problem.action_spec.dtype)
        }

    module = tf.Module()
    module.decide = tf.function(decide)
    specs = {name: tf.TensorSpec(shape, dtype, name=name) for name, (dtype, shape) in inputs.items()}
    concrete = module.decide.get_concrete_function(**specs)
    tf.saved_model.save(module, str(folder / "saved_model"), signatures={"action": concrete})
    model = tf.lite.TFLiteConverter.from_saved_model(str(folder / "saved_model"), signature_keys=["action"]).convert()
    (output,) = tf.lite.Interpreter(model_content=model).get_output_details()
    (folder / "model.tflite").write_bytes(model)
    write_specification(folder, problem.action_spec.name, output["name"].split(":")[0], problem)
    return folder


def write_specification(folder: pathlib.Path, logging_name: str, tensor: str, problem) -> None:
    cpp_type = {"int64": "int64_t", "float32": "float"}[problem.action_spec.dtype]
    spec = {"name": tensor, "port": 0, "type": cpp_type, "shape": list(problem.action_spec.shape)}
    (folder / "output_spec.json").write_text(json.dumps([{"logging_name": logging_name, "tensor_spec": spec}]))


class ModelErrorsTest(unittest.TestCase):
    def setUp(self):
        self.folder = pathlib.Path(self.enterContext(tempfile.TemporaryDirectory()))
        (self.folder / "x.c").write_text(SOURCE)

    def refuse(self, problem, model: pathlib.Path, expected: str) -> None:
        """`expected` is a regular expression for what the only error says about the model."""
        command = [str(runfile("development/clang")), "-Oz", "-c", "x.c", *problem.development_flags(None, str(model))]
        done = subprocess.run(command, cwd=self.folder, capture_output=True, text=True, timeout=120, check=False)
        self.assertEqual(done.returncode, 1, done.stderr)
        self.assertEqual(done.stderr.count("\n"), 1, done.stderr)
        self.assertRegex(done.stderr, "error: error in backend: Could not load the policy model.*" + expected)

    def test_feature_that_the_compiler_lacks(self):
        for problem in PROBLEMS:
            with self.subTest(problem.name):
                folder = self.folder / problem.name
                folder.mkdir()
                model = write_model(folder, problem, colour=("int64", (1,)))
                self.refuse(
                    problem,
                    model,
                    r"model\.tflite: it wants the feature 'action_colour:0', which this compiler does not have",
                )

    def test_other_type_and_shape(self):
        model = write_model(self.folder, EVICTION, mask=("float32", (1, 66)))
        self.refuse(EVICTION, model, "its tensor 'action_mask' is FLOAT32 of 264 bytes instead of INT64 of 264")
        model = write_model(self.folder, EVICTION, mask=("int64", (1, 32)))
        self.refuse(EVICTION, model, "its tensor 'action_mask' is INT64 of 256 bytes instead of INT64 of 264")

    def test_other_output(self):
        model = write_model(self.folder, EVICTION, mask=("int64", (1, 33)))
        write_specification(model, "index_to_evict", "another", EVICTION)
        self.refuse(EVICTION, model, "it has no output 'another:0', which its output_spec.json names")

    def test_policy_for_another_problem(self):
        model = write_model(self.folder, EVICTION, mask=("int64", (1, 33)))
        self.refuse(
            PROBLEMS[1],
            model,
            r"output_spec\.json: the first output must be the decision, with the logging_name "
            "'inlining_decision'; is this another problem's policy",
        )

    def test_operation_newer_than_the_runtime(self):
        model = write_model(self.folder, EVICTION, mask=("int64", (1, 33)))
        content = schema.ModelT.InitFromObj(schema.Model.GetRootAs((model / "model.tflite").read_bytes(), 0))
        for code in content.operatorCodes:
            code.version = 99
        (model / "model.tflite").write_bytes(flatbuffer_utils.convert_object_to_bytearray(content))
        self.refuse(EVICTION, model, r"model\.tflite: .*version '99'")

    def test_damaged_and_missing_files(self):
        model = write_model(self.folder, EVICTION, mask=("int64", (1, 33)))
        content = (model / "model.tflite").read_bytes()
        (model / "model.tflite").write_bytes(content[: len(content) // 2])
        self.refuse(EVICTION, model, r"model\.tflite")
        (model / "model.tflite").unlink()
        self.refuse(EVICTION, model, r"model\.tflite")
        (model / "output_spec.json").write_text("[{")
        self.refuse(EVICTION, model, r"output_spec\.json: ")
        (model / "output_spec.json").unlink()
        self.refuse(EVICTION, model, r"output_spec\.json: No such file or directory")

    def test_development_mode_needs_something_to_do(self):
        for problem in PROBLEMS:
            command = [
                str(runfile("development/clang")),
                "-Oz",
                "-c",
                "x.c",
                "-mllvm",
                f"-{problem.advisor_flag}=development",
            ]
            done = subprocess.run(command, cwd=self.folder, capture_output=True, text=True, timeout=120, check=False)
            self.assertEqual((done.returncode, done.stderr.count("\n")), (1, 1), done.stderr)
            self.assertRegex(
                done.stderr,
                f"-{problem.advisor_flag}=development needs -{problem.log_flag}=FILE, -{problem.model_flag}=",
            )

    def test_log_that_cannot_be_written(self):
        for problem in PROBLEMS:
            flags = problem.development_flags("absent/x.log", None)
            command = [str(runfile("development/clang")), "-Oz", "-c", "x.c", *flags]
            done = subprocess.run(command, cwd=self.folder, capture_output=True, text=True, timeout=120, check=False)
            self.assertEqual((done.returncode, done.stderr.count("\n")), (1, 1), done.stderr)
            self.assertRegex(
                done.stderr, f"-{problem.log_flag}: absent/x.log cannot be written: No such file or directory"
            )


if __name__ == "__main__":
    unittest.main()
