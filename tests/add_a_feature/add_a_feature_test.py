"""docs/add-a-feature.md alone suffices: with its changes, the compiler logs the feature and a policy looks at it."""

import importlib.util
import json
import pathlib
import shutil
import sys
import tempfile
import unittest

from mlgo.compiler.executor import LocalExecutor
from mlgo.compiler.request import CompileRequest, CompileResult
from mlgo.corpus.corpus import Module
from mlgo.run import locate
from tests.end_to_end import command
from tests.end_to_end.copied_sources import copy_sources

NAME = "callee_parameters"
# Calls of functions with three parameters, none, and one.
_MODULE = """\
target triple = "x86_64-pc-linux-gnu"
define i32 @three(i32 %a, i32 %b, i32 %c) minsize optsize {
  %ab = mul i32 %a, %b
  %abc = add i32 %ab, %c
  ret i32 %abc
}
define i32 @none() minsize optsize {
  ret i32 7
}
define i32 @one(i32 %a) minsize optsize {
  %x = xor i32 %a, 9
  ret i32 %x
}
define i32 @caller(i32 %a) minsize optsize {
  %x = call i32 @three(i32 %a, i32 %a, i32 %a)
  %y = call i32 @none()
  %z = call i32 @one(i32 %y)
  %xz = add i32 %x, %z
  ret i32 %xz
}
"""


class AddAFeatureTest(unittest.TestCase):
    def setUp(self):
        self.folder = pathlib.Path(self.enterContext(tempfile.TemporaryDirectory()))
        self.clang = locate.runfile("tests/add_a_feature/clang")

    def changed(self, name: str) -> pathlib.Path:
        """The file of this name with the page's changes."""
        return locate.runfile(f"tests/add_a_feature/changed/{name}")

    def test_the_compiler_logs_it(self):
        specification = importlib.util.spec_from_file_location("changed_problem", self.changed("problem.py"))
        assert specification and specification.loader
        problem = importlib.util.module_from_spec(specification)
        specification.loader.exec_module(problem)
        path = self.folder / "calls.ll"
        path.write_text(_MODULE, encoding="ascii")
        command_line = ("-cc1", "-triple", "x86_64-pc-linux-gnu", "-Oz", "-disable-free")
        request = CompileRequest(self.clang, Module.at("calls", path, command_line), problem.PROBLEM)
        (outcome,) = LocalExecutor(1).run_ordered([request])
        assert isinstance(outcome, CompileResult), outcome
        log = outcome.log
        assert log is not None
        callees = [log.contexts[number].partition("\n")[2] for number in log.observation_context]
        values = log.features[NAME][:, 0].tolist()
        self.assertEqual(dict(zip(callees, values, strict=True)), {"three": 3, "none": 0, "one": 1})

    def test_a_policy_looks_at_it(self):
        workspace = self.folder / "workspace"
        copy_sources(workspace)
        for name in ("problem.py", "linear_policy.gin"):
            shutil.copyfile(self.changed(name), workspace / "mlgo/problems/inlining_for_size" / name)
        flags = [
            "--problem=inlining_for_size",
            f"--clang={self.clang}",
            f"--corpus={locate.runfile('mlgo/corpus/lua_oz')}",
            f"--output_dir={self.folder / 'out'}",
            "--iterations=1",
            "--modules_per_iteration=4",
            "--cache_dir=",
        ]
        code, said = command.Command(flags, "train_locally", [str(workspace), *sys.path]).end()
        self.assertEqual(code, 0, said)
        record = json.loads((self.folder / "out/policy/policy.json").read_bytes())
        self.assertIn(NAME, json.dumps(record["features"]))


if __name__ == "__main__":
    unittest.main()
