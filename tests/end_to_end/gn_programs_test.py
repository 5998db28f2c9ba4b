"""//mlgo:evaluate_programs on an executable of a gn project, with the real gn, ninja, packaged compiler, linker and
Valgrind.

Arguments: clang, ld.lld, the sysroot's usr, valgrind, gn, ninja.
"""

import json
import os
import pathlib
import sys
import tempfile
import unittest
import unittest.mock
from typing import Any

from mlgo.run.exit_codes import ExitCode
from tests.corpora.gn_project import FILES
from tests.end_to_end import command, program_tools

_CLANG, _LINKER, _USR, _VALGRIND, _GN, _NINJA = (pathlib.Path(path).absolute() for path in sys.argv[1:7])
del sys.argv[1:7]

# Without the policy the library has one more loop; `LIBRARY` comes from gn alone.
_SOURCES = {
    "lib/BUILD.gn": """
config("public") {
  include_dirs = [ "include" ]
}
static_library("sum") {
  sources = [ "su m.cc" ]
  defines = [ "LIBRARY=7" ]
  public_configs = [ ":public" ]
}
""",
    "lib/include/sum.h": "unsigned Sum(unsigned seed);\n",
    "lib/su m.cc": """#include "sum.h"
unsigned Sum(unsigned seed) {
  for (volatile unsigned turn = 0; turn < 1000; turn = turn + 1) seed += turn;
#ifndef POLICY
  for (volatile unsigned turn = 0; turn < 1000; turn = turn + 1) seed ^= turn;
#endif
  return seed & LIBRARY ? 1 : 2;
}
""",
}
_FLAGS = ("--inline_thresholds=5", "--cost_sources=2", "--cost_turns=1", "--repeats=1")
_BUILD = 'executable("sums") {\n  sources = [ "main.cc" ]\n  deps = [ "//lib:sum" ]\n  libs = [ "m" ]\n}\n'
_MAIN = """#include <stdio.h>
#include "sum.h"
int main(int count, char**) { return printf("%d\\n", Sum(count) > 0) < 0; }
"""


class GnProgramsTest(unittest.TestCase):
    folder: pathlib.Path
    projects: pathlib.Path
    out: pathlib.Path
    result: dict[str, Any]

    @classmethod
    def setUpClass(cls):
        cls.folder = pathlib.Path(cls.enterClassContext(tempfile.TemporaryDirectory()))
        description = json.dumps({"name": "sums", "runs": [{"name": "go", "arguments": []}]})
        contents = {f"tree/{path}": text for path, text in {**FILES, **_SOURCES}.items()}
        for path, text in {
            **contents,
            "BUILD.gn": _BUILD,
            "main.cc": _MAIN,
            "stamp": "1",
            "sums.json": description,
        }.items():
            (cls.folder / path).parent.mkdir(parents=True, exist_ok=True)
            (cls.folder / path).write_text(text, encoding="utf-8")
        cls.projects = cls.folder / "small_project.json"
        cls.out = cls.folder / "out"
        code, said = cls.evaluate(*_FLAGS)
        if code != ExitCode.DONE:
            raise AssertionError(f"exit code {code}:\n{said}")
        cls.result = json.loads((cls.out / "result.json").read_text(encoding="utf-8"))

    @classmethod
    def evaluate(cls, *flags):
        def here(name):
            return str(cls.folder / name)

        cls.projects.write_text(
            json.dumps(
                {
                    "tree": here("tree"),
                    "gn": str(_GN),
                    "ninja": str(_NINJA),
                    "python": sys.executable,
                    "gn_args": {"clang_embed_bitcode": "true"},
                    "env": {"CC": "../../mlgo_toolchain/clang", "CXX": "../../mlgo_toolchain/clang++"},
                    "path": [],
                    "fingerprints": [here("stamp")],
                    "toolchain": {name: str(_CLANG) for name in ("clang", "clang++")},
                    "srcs": [here("BUILD.gn"), here("main.cc")],
                    "descriptions": [here("sums.json")],
                }
            ),
            encoding="utf-8",
        )
        tools = program_tools.flags(cls.folder, _CLANG, _LINKER, _USR, _VALGRIND)
        with unittest.mock.patch.dict(os.environ, {"MLGO_GN_PROGRAMS": str(cls.projects)}):
            return command.run(*tools, *flags, f"--output_dir={cls.out}", program="evaluate_programs")

    def test_the_known_effect_is_measured(self):
        runs = self.result["run"]["sums"]
        # A turn compares, uses and increments the counter in memory: three loads for Cachegrind; the last comparison
        # ends the loop.
        self.assertEqual(runs["default"]["loads"] - runs["policy"]["loads"], 3001)
        self.assertEqual(runs["default"]["stores"] - runs["policy"]["stores"], 1)
        for measure in ("code_bytes", "code_bytes_icf", "code_bytes_thinlto"):
            self.assertLess(
                self.result["size"]["sums"]["policy"][measure], self.result["size"]["sums"]["default"][measure]
            )
        self.assertEqual(self.result["cost"]["-O2"]["policy"]["cpu_seconds"]["sources"], 2)

    def test_the_same_command_does_nothing_anew(self):
        stages = len(list(self.out.rglob("manifest.json")))
        code, said = self.evaluate(*_FLAGS)
        self.assertEqual((code, said.count("done before")), (ExitCode.DONE, stages), said)

    def test_other_flags_are_refused(self):
        code, said = self.evaluate("--inline_thresholds=5", "--nocost", "--repeats=1")
        self.assertEqual(code, ExitCode.USER_ERROR, said)
        self.assertIn("configuration.cost: was True, now False", said)

    def test_names_are_those_of_the_project(self):
        code, said = self.evaluate("--list")
        self.assertEqual(code, ExitCode.DONE, said)
        self.assertIn("sums: ", said)
        code, said = self.evaluate("--programs=lua")
        self.assertEqual(code, ExitCode.USER_ERROR, said)
        self.assertIn("names 'lua'. Known: all, sums", said)


if __name__ == "__main__":
    unittest.main()
