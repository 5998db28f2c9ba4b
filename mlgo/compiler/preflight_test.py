import dataclasses
import re

from mlgo.compiler.preflight import preflight
from mlgo.compiler.testing import fake_clang
from mlgo.problems.problem import load_problem
from mlgo.problems.regalloc_eviction.problem import PROBLEM
from mlgo.problems.tensor import TensorSpec
from mlgo.run.exit_codes import RunError
from mlgo.run.testing.folder_case import FolderCase


class PreflightTest(FolderCase):
    def refused(self, clang, expected: str):
        with self.assertRaisesRegex(RunError, f"{re.escape(expected)}.*//development:clang"):
            preflight(clang, PROBLEM)

    def test_a_good_compiler(self):
        preflight(fake_clang.install(self.folder, PROBLEM), PROBLEM)

    def test_without_ml_support(self):
        clang = fake_clang.install(self.folder, PROBLEM, ml_support=False)
        self.refused(clang, "has no ML support for regalloc_eviction: it does not know the flags")

    def test_a_compiler_without_our_patches(self):
        inlining = load_problem("inlining_for_size")
        without = load_problem("inlining_for_size+stock")
        clang = fake_clang.install(self.folder, without)
        preflight(clang, without)
        with self.assertRaisesRegex(RunError, r"logs decisions, but .*Give --problem=inlining_for_size\+stock, or"):
            preflight(clang, inlining)

    def test_another_version_s_features(self):
        specs = (*PROBLEM.observation_specs[:-1], TensorSpec("progress", "float32", (2,)))
        clang = fake_clang.install(self.folder, dataclasses.replace(PROBLEM, observation_specs=specs))
        wrong = "feature 20 of regalloc_eviction is progress float[1], in this log it is progress float[2]"
        self.refused(clang, wrong)

    def test_what_is_no_compiler(self):
        self.refused(self.folder / "absent", "is not an executable file")
        self.refused(self.file("text", "hello"), "is not an executable file")
        self.refused(self.script("nothing", "exit 0"), "bad_log, training log of preflight: was not written")
