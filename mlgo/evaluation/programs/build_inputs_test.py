"""Every kind of input of a program's build, edited: what was measured before is then of another build."""

import json
import os
import pathlib
import tempfile
import unittest
import unittest.mock

from mlgo.evaluation.programs.build_inputs import build_inputs
from mlgo.evaluation.programs.building import Toolchain
from mlgo.evaluation.programs.program import load_program
from mlgo.evaluation.sides import Side
from mlgo.run.run_folder import RunFolder

# Preprocesses one level of #include "NAME", and says how it would link.
_CLANG = """#!/bin/sh
for word; do last=$word; done
case "$*" in
  --version) exit 0;;
  *-\\#\\#\\#*) echo ' "ld.lld" "-L{folder}/lib" "{folder}/lib/crt1.o" "-lc++" "-lm" "-o" "x"' >&2; exit 0;;
  *" -E "*) cat "$last"; sed -n 's/^#include "\\(.*\\)"/\\1/p' "$last" | while read name; do cat "$name"; done; exit 0;;
esac
exit 1
"""


class BuildInputsTest(unittest.TestCase):
    def setUp(self):
        self.folder = pathlib.Path(self.enterContext(tempfile.TemporaryDirectory()))
        for name in ("clang", "driver"):
            self.write(name, _CLANG.format(folder=self.folder))
            (self.folder / name).chmod(0o755)
        self.write("one.c", '#include "one.h"\n')
        self.write("lib/libm.a", f"GROUP ( {self.folder}/lib/libm-2.36.a )")
        for name in ("one.h", "ld.lld", "extra.a", "a.decisions", "lib/crt1.o", "lib/libc++.a", "lib/libm-2.36.a"):
            self.write(name, name)

    def write(self, name, content):
        path = self.folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(content, encoding="utf-8")

    def inputs(self, option="-DX", flags=(), **fields):
        """The inputs as a command that begins now finds them."""
        self.write(
            "commands.json",
            json.dumps([{"directory": str(self.folder), "file": "one.c", "arguments": ["clang", option, "one.c"]}]),
        )
        description = {"name": "p", "compile_commands": "commands.json", "runs": [{"name": "go"}], **fields}
        self.write("p.json", json.dumps(description))
        program = load_program(self.folder / "p.json", {})
        # Another toolchain each time: what one has read, it does not read again.
        self.workers = getattr(self, "workers", 0) + 1
        toolchain = Toolchain(None, self.folder / "ld.lld", self.folder / "driver", self.workers)
        return build_inputs(toolchain, Side("side", self.folder / "clang", flags), program, "-O2")

    def assertChanges(self, name, key, content=None, **fields):
        """An edit of the file `name` changes the input `key`, and no other."""
        before = self.inputs(**fields)
        self.write(name, content or (self.folder / name).read_text() + "\nedited")
        after = self.inputs(**fields)
        self.assertEqual([each for each in before if before[each] != after[each]], [key], name)

    def test_equal_inputs(self):
        self.assertEqual(self.inputs(), self.inputs())

    def test_headers(self):
        self.assertChanges("one.h", "read")
        self.write("one.c", '#include "new.h"\n')
        self.assertChanges("new.h", "read", "of a name that was not there before")

    def test_a_stage_runs_again_after_an_edit_of_a_header(self):
        folder = RunFolder(self.folder / "out")
        self.addCleanup(folder.close)
        runs: list[pathlib.Path] = []

        def work(path: pathlib.Path) -> dict[str, object]:
            runs.append(path)
            return {}

        folder.claim({"code": {}})
        for content in ("1", "1", "2"):
            self.write("one.h", content)
            with unittest.mock.patch("mlgo.run.run_folder.tell") as told:
                folder.stage("size/p/side", self.inputs(), {}, work)
        self.assertEqual(len(runs), 2)
        told.assert_called_once_with("size/p/side: runs again, for read changed")

    def test_fingerprints_stand_for_headers(self):
        before = self.inputs(fingerprints=["extra.a"])
        self.write("one.h", "edited")
        self.assertEqual(self.inputs(fingerprints=["extra.a"]), before)

    def test_libraries(self):
        for name in ("ld.lld", "lib/crt1.o", "lib/libc++.a", "lib/libm-2.36.a"):
            self.assertChanges(name, "toolchain")
        self.assertChanges("extra.a", "toolchain", libraries=["extra.a"])
        self.assertChanges("extra.a", "toolchain", libraries=["-Wl,--version-script=extra.a"])

    def test_files_that_flags_name(self):
        decisions = self.folder / "a.decisions"
        self.assertChanges("a.decisions", "compiler", flags=("-mllvm", f"-mlgo-decisions={decisions}"))
        self.assertChanges("a.decisions", "read", option=f"-fprofile-use={decisions}")
        self.assertChanges("a.decisions", "read", option="-fplugin=a.decisions")

    def test_flags(self):
        self.assertNotEqual(self.inputs(flags=("-mllvm", "-x"))["compiler"], self.inputs()["compiler"])
        self.assertNotEqual(self.inputs(option="-DY")["program"], self.inputs()["program"])

    def test_a_driver(self):
        self.assertChanges("driver", "toolchain")
        self.assertTrue(os.access(self.folder / "driver", os.X_OK))


if __name__ == "__main__":
    unittest.main()
