"""Without a policy our compilers write the packaged clang's objects; with one, both compilers write equal objects."""

import pathlib
import tempfile
import unittest

from mlgo.corpus.corpus import Module
from mlgo.problems.problem import Problem, load_problem
from mlgo.run.locate import runfile
from tests.compilers.modules import compile_to_object, held_out_modules

LEVELS = ("-O0", "-O2", "-Oz")


class IdentityTest(unittest.TestCase):
    problem: Problem
    development: pathlib.Path
    release: pathlib.Path
    packaged: pathlib.Path
    modules: list[Module]
    objects_of_packaged: dict[str, bytes]

    @classmethod
    def setUpClass(cls):
        cls.problem = load_problem("regalloc_eviction")
        cls.development = runfile("development/clang")
        cls.release = runfile("release/clang")
        cls.packaged = runfile("tests/compilers/packaged_clang")
        cls.modules = held_out_modules()
        cls.objects_of_packaged = {}

    def setUp(self):
        self.folder = pathlib.Path(self.enterContext(tempfile.TemporaryDirectory()))

    def objects(self, clang, level, flags=()):
        return {module.name: compile_to_object(clang, module, level, self.folder, flags) for module in self.modules}

    def packaged_objects(self, level):
        """What all tests compare with, compiled once."""
        if level not in self.objects_of_packaged:
            self.objects_of_packaged[level] = self.objects(self.packaged, level)
        return self.objects_of_packaged[level]

    def assert_equal_objects(self, found, wanted, what):
        different = [name for name in wanted if found[name] != wanted[name]]
        self.assertEqual(different, [], f"{what}: objects differ")

    def test_without_policy_objects_are_those_of_the_packaged_clang(self):
        for level in LEVELS:
            wanted = self.packaged_objects(level)
            self.assertGreater(min(map(len, wanted.values())), 0)
            for name, clang in (("development", self.development), ("release", self.release)):
                with self.subTest(level=level, clang=name):
                    self.assert_equal_objects(self.objects(clang, level), wanted, f"{name} {level}")

    def test_logging_the_default_changes_no_object(self):
        log = self.folder / "training.log"
        logged_bytes = 0
        for module in self.modules:
            wanted = self.packaged_objects("-O2")[module.name]
            found = compile_to_object(
                self.development, module, "-O2", self.folder, self.problem.development_flags(str(log), None)
            )
            self.assertEqual(found, wanted, f"{module.name}: object differs when the default's decisions are logged")
            logged_bytes += log.stat().st_size
        # Fewer than a hundred decisions in eight modules would be a weak test.
        self.assertGreater(logged_bytes, 100 * self.problem.observation_bytes)

    def test_shipped_policy(self):
        """Release and development agree, and the policy decides differently from the default somewhere."""
        model = runfile("tests/policies/shipped_eviction_tflite/model.tflite").parent
        embedded = self.objects(self.release, "-O2", self.problem.release_flags())
        interpreted = self.objects(self.development, "-O2", self.problem.development_flags(None, str(model)))
        self.assert_equal_objects(embedded, interpreted, "release against development with the same policy")
        self.assertNotEqual(embedded, self.packaged_objects("-O2"), "the policy changed no object: was it asked?")


if __name__ == "__main__":
    unittest.main()
