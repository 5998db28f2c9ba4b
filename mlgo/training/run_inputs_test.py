from mlgo.problems.regalloc_eviction.problem import PROBLEM
from mlgo.run.manifest import digest_of_file
from mlgo.run.testing.folder_case import FolderCase
from mlgo.training.run_inputs import Estimation, RunInputs, identity_of
from mlgo.training.settings import configure


class IdentityTest(FolderCase):
    def test_identity(self):
        clang, estimator, opt = (self.file(name, name) for name in ("clang", "estimator.json", "opt"))
        configurations = configure({"problem": PROBLEM.name, "seed": 3}, [], ["PpoConfig.epochs = 2"])

        def identity(estimation=None):
            inputs = RunInputs(clang, self.folder, None, None, None, self.folder / "out", estimation=estimation)
            return identity_of(inputs, configurations, {}, PROBLEM)

        found = identity()
        self.assertEqual(found["inputs"]["clang"], digest_of_file(clang))
        self.assertEqual((found["inputs"]["vocabulary"], found["inputs"]["imitated"]), (None, []))
        self.assertEqual(found["configuration"]["run"]["seed"], 3)
        self.assertEqual(found["configuration"]["ppo"]["epochs"], 2)
        self.assertIn("numpy", found["versions"])
        self.assertEqual(identity(Estimation(estimator, opt))["inputs"]["opt"], digest_of_file(opt))
        self.assertNotIn("opt", found["inputs"])
