"""The identity of a run: settings, digests of the inputs, versions."""

import pathlib
import tempfile
import unittest

from mlgo.problems.regalloc_eviction.problem import PROBLEM
from mlgo.run.manifest import digest_of_file
from mlgo.training.run_inputs import Estimation, RunInputs, identity_of
from mlgo.training.settings import configure


class IdentityTest(unittest.TestCase):
    def test_identity(self):
        with tempfile.TemporaryDirectory() as scratch:
            folder = pathlib.Path(scratch)
            for name in ("clang", "estimator.json", "opt"):
                (folder / name).write_text(name, encoding="utf-8")
            configurations = configure({"problem": PROBLEM.name, "seed": 3}, [], ["PpoConfig.epochs = 2"])

            def identity(estimation=None):
                inputs = RunInputs(folder / "clang", folder, None, None, None, folder / "out", estimation=estimation)
                return identity_of(inputs, configurations, {}, PROBLEM)

            found = identity()
            self.assertEqual(found["inputs"]["clang"], digest_of_file(folder / "clang"))
            self.assertEqual((found["inputs"]["vocabulary"], found["inputs"]["imitated"]), (None, []))
            self.assertEqual(found["configuration"]["run"]["seed"], 3)
            self.assertEqual(found["configuration"]["ppo"]["epochs"], 2)
            self.assertIn("numpy", found["versions"])
            estimated = identity(Estimation(folder / "estimator.json", folder / "opt"))
            self.assertEqual(estimated["inputs"]["opt"], digest_of_file(folder / "opt"))
            self.assertNotIn("opt", found["inputs"])
