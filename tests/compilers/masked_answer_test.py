"""A policy that answers a forbidden position ends the compile with one error, not with wrong code."""

import json
import os
import pathlib
import subprocess
import tempfile
import unittest

os.environ["TF_CPP_MIN_LOG_LEVEL"] = "3"

import tensorflow as tf

from mlgo.problems.problem import load_problem
from mlgo.run.locate import runfile
from tests.compilers.modules import compile_to_object, held_out_modules


def write_forbidden_policy(folder: pathlib.Path) -> pathlib.Path:
    """A TensorFlow Lite policy that takes the first position whose mask is 0."""
    module = tf.Module()
    module.decide = tf.function(lambda mask: {"index_to_evict": tf.argmax(1 - tf.cast(mask, tf.int32), axis=1)})
    decide = module.decide.get_concrete_function(mask=tf.TensorSpec((1, 33), tf.int64, name="mask"))
    tf.saved_model.save(module, str(folder / "saved_model"), signatures={"action": decide})
    model = tf.lite.TFLiteConverter.from_saved_model(str(folder / "saved_model"), signature_keys=["action"]).convert()
    (output,) = tf.lite.Interpreter(model_content=model).get_output_details()
    name, port = output["name"].split(":")
    tensor = {"name": name, "port": int(port), "type": "int64_t", "shape": [1]}
    (folder / "model.tflite").write_bytes(model)
    (folder / "output_spec.json").write_text(json.dumps([{"logging_name": "index_to_evict", "tensor_spec": tensor}]))
    return folder


class MaskedAnswerTest(unittest.TestCase):
    def test_ends_the_compile(self):
        problem = load_problem("regalloc_eviction")
        clang = runfile("development/clang")
        with tempfile.TemporaryDirectory() as name:
            folder = pathlib.Path(name)
            flags = problem.development_flags(None, str(write_forbidden_policy(folder)))
            failures = []
            for module in held_out_modules():
                bitcode = module.bitcode_file()
                command = module.command.arguments(str(bitcode), str(folder / "out.o"), flags)
                done = subprocess.run([clang, *command], capture_output=True, text=True, timeout=300, check=False)
                if done.returncode:
                    failures.append(done.stderr)
                else:
                    # Without a decision the object equals the default's.
                    wanted = compile_to_object(clang, module, "-O2", folder)
                    self.assertEqual((folder / "out.o").read_bytes(), wanted, module.name)
        self.assertTrue(failures, "no module asked the policy")
        for stderr in failures:
            self.assertRegex(stderr, r"register eviction policy answered \d+, which is not among the allowed positions")


if __name__ == "__main__":
    unittest.main()
