"""A slot or a feature is renamed in one place: a copy of the workspace is edited there and builds.

one_place_test [--share=FILE ...]

The nested Bazel takes the repositories of the files of --share as they are fetched here; all others it fetches.
"""

import argparse
import os
import pathlib
import sys
import tempfile
import unittest

from tests.clones import clone, nested

SLOTS = pathlib.Path("llvm/slots.bzl")
PROBLEM = pathlib.Path("mlgo/problems/regalloc_eviction/problem.py")


class OnePlaceTest(unittest.TestCase):
    shared: list[pathlib.Path]
    folder: pathlib.Path
    bazel: nested.NestedBazel
    made: pathlib.Path

    @classmethod
    def setUpClass(cls):
        cls.folder = pathlib.Path(tempfile.mkdtemp(prefix="one_place.", dir=os.environ["TEST_TMPDIR"])).resolve()
        cls.addClassCleanup(nested.remove, cls.folder)
        workspace = cls.folder / "copy"
        clone.copy(clone.root(), workspace)
        cls.edit(workspace / SLOTS, '"eviction_policy": {', '"register_policy": {')
        cls.edit(workspace / SLOTS, '"RegAllocEvictModel"', '"RegisterModel"')
        cls.edit(workspace / SLOTS, '"decides_in": "functions for size"', '"decides_in": "all functions"')
        cls.edit(workspace / PROBLEM, '_per_position("use_def_density", ', '_per_position("density", ')
        added = '        TensorSpec("progress", '
        cls.edit(workspace / PROBLEM, added, '        _per_position("spill_cost", "float32"),\n' + added)
        cls.bazel = nested.NestedBazel(
            workspace / "bazelw", workspace, cls.folder / "base", nested.shared_repositories(cls.shared)
        )
        cls.addClassCleanup(cls.bazel.end)
        cls.bazel.run(
            "build",
            # Also where a disk cache has the library.
            "--remote_download_regex=/policy[.]cpp$",
            "//llvm:policy_list",
            "//release/backends/cpp:libeviction.so",
            "//mlgo/problems:slots_test",
        )
        cls.made = pathlib.Path(cls.bazel.run("info", "bazel-bin").strip())

    @staticmethod
    def edit(path, old, new):
        text = path.read_text(encoding="utf-8")
        assert text.count(old) == 1, f"{path}: {text.count(old)} times {old!r}"
        path.write_text(text.replace(old, new), encoding="utf-8")

    def test_compilers_have_the_slot(self):
        flag = "--//release:register_policy=//release:no_policy"
        self.bazel.run("build", "--nobuild", flag, "//development:all", "//release:all", "//toolchains/cc:all")
        found = self.bazel.run("cquery", "deps(//llvm:no_policies, 1) + deps(//release:policies, 1)")
        libraries = {line.split()[0] for line in found.splitlines()}
        self.assertLessEqual({"//llvm:no_register_policy", "//release:policies_register_policy_slot"}, libraries)
        self.assertNotIn("eviction_policy", found)

    def test_headers_have_the_names(self):
        header = (self.made / "llvm/embedded/RegisterModel.h").read_text()
        self.assertIn("using RegisterModel = mlgo::EmbeddedModel<mlgo::RegisterSlot>;", header)
        slots = (self.made / "llvm/embedded/PolicySlots.def").read_text()
        self.assertIn('"regalloc_eviction", "register_policy"', slots)
        # A policy for speed in the slot of the inliner is not limited to functions for size.
        self.assertIn('"-inliner-interactive-channel-base", AllFunctions, ', slots)

    def test_the_problem_has_the_slot(self):
        self.bazel.run("test", "--test_output=errors", "//mlgo/problems:slots_test")

    def test_generated_code_has_the_features(self):
        source = (self.made / "release/backends/cpp/eviction/policy.cpp").read_text()
        self.assertIn('"feed_density"', source)
        self.assertIn('"feed_spill_cost"', source)
        self.assertNotIn("use_def_density", source)


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--share", type=pathlib.Path, action="append", default=[])
    OnePlaceTest.shared = parser.parse_args().share
    unittest.main(argv=sys.argv[:1])
