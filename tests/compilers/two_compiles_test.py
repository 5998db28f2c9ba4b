"""-mlgo-search=2 asks default and policy side by side until they differ, and gives the object of one of both."""

import pathlib
import tempfile
import unittest

from mlgo.compiler.code_size import code_of_object
from mlgo.problems.problem import load_problem
from mlgo.run.locate import runfile
from tests.compilers.modules import compile_to_object, held_out_modules

CLANG = "release/clang"
POLICY_ON = load_problem("inlining_for_size").release_flags()
SEARCH = ["-mllvm", "-mlgo-search=2"]
PROJECTS = ("lua", "re2", "zstd")


class TwoCompilesTest(unittest.TestCase):
    def test_the_object_is_the_smaller_one(self):
        """Neither compile may see what the other one computed while both were asked."""
        folder = pathlib.Path(self.enterContext(tempfile.TemporaryDirectory()))
        chosen = set()
        for project in PROJECTS:
            for module in held_out_modules(f"mlgo/corpus/{project}_oz")[::2]:
                with self.subTest(project=project, module=module.name):
                    default, policy, searched = (
                        compile_to_object(runfile(CLANG), module, "-Oz", folder, flags)
                        for flags in ([], POLICY_ON, SEARCH)
                    )
                    sizes = [code_of_object(content, module.name).code_bytes for content in (default, policy)]
                    self.assertEqual(code_of_object(searched, module.name).code_bytes, min(sizes))
                    self.assertIs(searched in (default, policy), True)
                    chosen.add("both" if default == policy else "default" if searched == default else "policy")
        self.assertEqual(chosen, {"both", "default", "policy"}, "each case must occur")


if __name__ == "__main__":
    unittest.main()
