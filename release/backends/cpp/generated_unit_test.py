"""The text of generated C++, the whole numbers in it, and what the command says about policies it cannot use."""

import contextlib
import hashlib
import io
import json
import pathlib
import sys
import tempfile
import unittest

import numpy as np

from mlgo.learning.checkpoint import encode_arrays
from mlgo.learning.exact_network import exact_network
from mlgo.learning.network import PolicyNetwork
from mlgo.policy.identity import Identity, identity
from mlgo.run.exit_codes import ExitCode, RunError
from mlgo.run.locate import runfile
from release.backends.cpp.cpp_policy import main
from release.backends.cpp.generated_unit import GeneratedUnit, Origin
from release.backends.cpp.testing.made_up import CASES
from release.backends.cpp.testing.write_unit import SEED, made_up_unit
from release.backends.cpp.whole_numbers import HIDDEN_TOP, SUM_LIMIT, WholeLayer, whole_layers

_UPDATE = "after a wanted change run the command in testing/write_unit.py"


def _row_sums(layers: list[WholeLayer], levels: np.ndarray) -> np.ndarray:
    """int64 [M]: the sums of the last layer for uint8 levels [M, D]; the generated code's computation in NumPy."""
    inputs = levels.astype(np.int64)
    for layer in layers[:-1]:
        sums = inputs @ layer.kernel.astype(np.int64) + layer.bias
        inputs = np.minimum(np.maximum(sums, 0) >> layer.hidden_shift, HIDDEN_TOP)
    return (inputs @ layers[-1].kernel.astype(np.int64))[:, 0]


class TextTest(unittest.TestCase):
    def test_golden(self):
        unit = made_up_unit("tiny", "tiny.h")
        for name, text in (("tiny.h", unit.header()), ("tiny.cpp", unit.source())):
            golden = runfile(f"release/backends/cpp/testdata/{name}").read_text(encoding="ascii")
            self.assertEqual(text, golden, f"{name} differs from testdata/{name}; {_UPDATE}")

    def test_lines_are_not_longer_than_120(self):
        for name in CASES:
            unit = made_up_unit(name, "policy.h")
            for line in (unit.header() + unit.source()).splitlines():
                self.assertLessEqual(len(line), 120, f"{name}: {line}")

    def test_text_from_outside_cannot_leave_its_comment_or_string(self):
        case = CASES["tiny"]
        evil = 'x"; int main() {} // \n#error\\'
        origin = Origin(Identity("tiny", evil, "0"), (("training run", evil),))
        unit = GeneratedUnit(case.network(SEED), case.problem, "A", "a.h", origin)
        self.assertIn('TrainingRun[] = "x\\"; int main() {} // ?#error";', unit.header())
        self.assertNotIn("\n#error", unit.header())
        for line in unit.source().splitlines():
            self.assertFalse(line.endswith("\\"), line)

    def test_class_names(self):
        case = CASES["tiny"]
        origin = Origin(Identity("tiny", "", ""), (("a", "b"),))
        for name in ("", "a b", "a::", "1a", "a;b"):
            with self.assertRaisesRegex(RunError, "is not the name of a class"):
                GeneratedUnit(case.network(SEED), case.problem, name, "a.h", origin)
        self.assertNotIn("namespace A", GeneratedUnit(case.network(SEED), case.problem, "A", "a.h", origin).header())


class WholeNumbersTest(unittest.TestCase):
    def test_equal_to_the_exact_network(self):
        random = np.random.default_rng(0)
        for name, case in CASES.items():
            exact = exact_network(case.network(SEED).weights)
            layers = whole_layers(exact)
            levels = random.choice(np.array([0, 0, 1, 31, 191, 192], np.uint8), (500, layers[0].kernel.shape[0]))
            sums = _row_sums(layers, levels)
            np.testing.assert_array_equal(
                (sums * layers[-1].grid).astype(np.float32), exact.row_logits(levels), err_msg=name
            )
            self.assertGreater(len(np.unique(sums)), 10)
            for layer in layers:
                self.assertLess(layer.largest_sum, SUM_LIMIT)

    def test_a_sum_that_does_not_fit_is_refused(self):
        with self.assertRaisesRegex(ValueError, "a sum can reach 16777216, beyond 16777216"):
            WholeLayer(np.array([[2**16]], np.int32), np.array([2**22], np.int32), 1.0, 192)

    def test_bits_of_weights(self):
        for largest, bits in ((2**15 - 1, 16), (2**15, 32), (-(2**15), 32)):
            layer = WholeLayer(np.array([[largest]], np.int32), np.zeros(1, np.int32), 1.0, 192)
            self.assertEqual(layer.weight_bits, bits)


class CommandTest(unittest.TestCase):
    def setUp(self):
        self.folder = pathlib.Path(self.enterContext(tempfile.TemporaryDirectory()))
        self.policy = self.folder / "policy"
        self.case = CASES["priority"]
        self.network = self.case.network(SEED)
        self.write(self.network)

    def write(self, network, **changes):
        """A policy without saved_model.pb, which this command does not read."""
        self.policy.mkdir(exist_ok=True)
        content = encode_arrays(network.weights)
        (self.policy / "weights.npz").write_bytes(content)
        record = {
            "format": "mlgo policy 1",
            "problem": "regalloc_priority",
            "features": list(network.normalizer.features),
            "decision": "priority",
            "normalizer": network.normalizer.to_json(),
            "normalizer_digest": network.normalizer.digest,
            "sha256": {"weights.npz": hashlib.sha256(content).hexdigest(), "saved_model.pb": "5" * 64},
            "training": {"configuration": {"run": {"seed": 7}}, "inputs": {"train_corpus": "ab" * 32}},
        }
        (self.policy / "policy.json").write_text(json.dumps(record | changes))

    def run_command(self, out="out", **flags):
        """(exit code, what it said)."""
        flags = {"policy": self.policy, "problem": "regalloc_priority", "cpp_class": "mlgo::PriorityPolicy"} | flags
        flags |= {"header": self.folder / out / "p.h", "source": self.folder / out / "p.cpp"}
        said = io.StringIO()
        with contextlib.redirect_stderr(said):
            code = main([f"--{name}={value}" for name, value in flags.items()])
        return code, said.getvalue()

    def assert_refused(self, *parts, **flags):
        code, said = self.run_command(**flags)
        self.assertEqual(code, ExitCode.USER_ERROR)
        self.assertEqual(said.count("\n"), 1, said)
        for part in ("error: ", *parts):
            self.assertIn(part, said)
        self.assertFalse((self.folder / "out" / "p.h").exists())

    def test_equal_bytes_whatever_the_folders(self):
        self.assertEqual(self.run_command("one"), (ExitCode.DONE, ""))
        self.policy = self.policy.rename(self.folder / "moved")
        self.assertEqual(self.run_command("two"), (ExitCode.DONE, ""))
        for name in ("p.h", "p.cpp"):
            self.assertEqual((self.folder / "one" / name).read_bytes(), (self.folder / "two" / name).read_bytes())
        header = (self.folder / "one" / "p.h").read_text()
        self.assertNotIn(str(self.folder), header)
        for part in ("seed 7, corpus abababababab", "sha256 " + "5" * 64, "sha256 " + self.network.normalizer.digest):
            self.assertIn(part, header)

    def test_digests_that_are_none(self):
        self.write(self.network, normalizer_digest=None, training={"inputs": {"clang": "a" * 10_000_000}})
        self.assertEqual(self.run_command(), (ExitCode.DONE, ""))
        header = (self.folder / "out" / "p.h").read_text()
        self.assertIn("normaliser not recorded", " ".join(header.split()))
        self.assertLess(len(header), 10_000)

    def test_needs_no_tensorflow(self):
        self.run_command()
        self.assertNotIn("tensorflow", sys.modules)

    def test_a_savedmodel_of_someone_else(self):
        (self.policy / "saved_model.pb").write_bytes(b"model")
        (self.policy / "policy.json").unlink()
        self.assert_refused(str(self.policy), 'Embed it with backend = "aot"')

    def test_what_is_missing_or_wrong(self):
        self.assert_refused("is for 'regalloc_priority', not for 'inlining_for_size'", problem="inlining_for_size")
        self.assert_refused("--problem=absent", problem="absent")
        self.assert_refused("--cpp_class=a b", cpp_class="a b")
        self.assert_refused("policy.json", policy=self.folder / "absent")
        weights = dict(self.network.weights)
        kernel = weights["policy/1/kernel"].copy()
        kernel[0, 0] = np.nan
        self.write(PolicyNetwork(self.network.normalizer, weights | {"policy/1/kernel": kernel}))
        self.assert_refused("weights.npz", "policy/1/kernel")
        self.write(PolicyNetwork(self.network.normalizer, weights | {"policy/1/kernel": kernel[:-1] * 0}))
        self.assert_refused("weights.npz", "policy/1/kernel")
        large = np.full_like(kernel, 1e6)
        self.write(PolicyNetwork(self.network.normalizer, weights | {"policy/1/kernel": large}))
        self.assert_refused("policy/1", "too large to compute with exactly")

    def test_a_feature_that_the_compiler_lacks(self):
        normalizer = self.network.normalizer.to_json()
        normalizer["columns"][0][0] = "colour"
        self.write(self.network, normalizer=normalizer, features=["colour", *self.network.normalizer.features[1:]])
        self.assert_refused("'colour'", "the compiler lacks")


class IdentityTest(unittest.TestCase):
    def setUp(self):
        self.folder = pathlib.Path(self.enterContext(tempfile.TemporaryDirectory()))

    def test_of_any_savedmodel(self):
        (self.folder / "saved_model.pb").write_bytes(b"model")
        digest = hashlib.sha256(b"model").hexdigest()
        self.assertEqual(identity(self.folder, "some_problem"), Identity("some_problem", "not recorded", digest))

    def test_weights_beside_a_savedmodel_count(self):
        (self.folder / "saved_model.pb").write_bytes(b"model")
        (self.folder / "variables").mkdir()
        found = []
        for weights in (b"one", b"two"):
            (self.folder / "variables" / "variables.data-00000-of-00001").write_bytes(weights)
            found.append(identity(self.folder, "some_problem").digest)
        self.assertEqual(len({*found, hashlib.sha256(b"model").hexdigest()}), 3)

    def test_refusals(self):
        with self.assertRaisesRegex(RunError, "saved_model.pb: cannot be read"):
            identity(self.folder, "some_problem")
        (self.folder / "saved_model.pb").write_bytes(b"model")
        (self.folder / "policy.json").write_text('{"sha256": {"saved_model.pb": "0"}}')
        with self.assertRaisesRegex(RunError, "is not the one that policy.json names"):
            identity(self.folder, "some_problem")
        (self.folder / "policy.json").write_text("[]")
        with self.assertRaisesRegex(RunError, "is not a JSON object"):
            identity(self.folder, "some_problem")


if __name__ == "__main__":
    unittest.main()
