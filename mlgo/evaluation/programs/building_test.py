import dataclasses
import json
import os
import pathlib
import tempfile
import unittest
import unittest.mock

from mlgo.evaluation.programs.building import BuildFailure, Toolchain, build_inputs, compile_command, compile_objects
from mlgo.evaluation.programs.lto_building import link_through_lto
from mlgo.evaluation.programs.program import load_program
from mlgo.evaluation.sides import Side
from mlgo.run.run_folder import RunFolder
from mlgo.run.testing.folder_case import FolderCase

# Preprocesses one level of #include "NAME", and says how it would link.
_PREPROCESSOR = """#!/bin/sh
for word; do last=$word; done
case "$*" in
  --version) exit 0;;
  *-\\#\\#\\#*) echo ' "ld.lld" "-L{folder}/lib" "{folder}/lib/crt1.o" "-lc++" "-lm" "-o" "x"' >&2; exit 0;;
  *" -E "*) cat "$last"; sed -n 's/^#include "\\(.*\\)"/\\1/p' "$last" | while read name; do cat "$name"; done; exit 0;;
esac
exit 1
"""
# Its object tells how often it was started before.
_COMPILER = """#!/bin/sh
case "$*" in --version|*-\\#\\#\\#*) exit 0;; esac
case "$*" in *broken*) echo "error: broken" >&2; exit 1;; esac
echo "$*" >> "{folder}/started"
while [ $# -gt 1 ]; do
  [ "$1" = -o ] && output=$2
  case "$1" in -Wl,--Map=*) echo map > "${{1#-Wl,--Map=}}";; esac
  shift
done
wc -l < "{folder}/started" > "$output"
"""


class BuildTestCase(FolderCase):
    """Has a folder with sources, scripts in place of tools, and a program."""

    def script(self, name, content):
        return super().script(name, content.format(folder=self.folder))

    def program(self, *sources, option="-DX", **fields):
        entries = [
            {"directory": str(self.folder), "file": source, "arguments": ["clang", option, source]}
            for source in sources
        ]
        self.file("commands.json", json.dumps(entries))
        description = {"name": "p", "compile_commands": "commands.json", "runs": [{"name": "go"}], **fields}
        return load_program(self.file("p.json", json.dumps(description)), {})


class BuildInputsTest(BuildTestCase):
    """Every kind of input, edited: what was measured before is then of another build."""

    def setUp(self):
        super().setUp()
        for name in ("clang", "driver"):
            self.script(name, _PREPROCESSOR)
        self.file("one.c", '#include "one.h"\n')
        self.file("lib/libm.a", f"GROUP ( {self.folder}/lib/libm-2.36.a )")
        for name in ("one.h", "ld.lld", "extra.a", "a.decisions", "lib/crt1.o", "lib/libc++.a", "lib/libm-2.36.a"):
            self.file(name, name)

    def inputs(self, flags=(), **fields):
        """The inputs as a command that begins now finds them."""
        program = self.program("one.c", **fields)
        # Another toolchain each time: what one has read, it does not read again.
        self.workers = getattr(self, "workers", 0) + 1
        toolchain = Toolchain(None, self.folder / "ld.lld", self.folder / "driver", self.workers)
        return build_inputs(toolchain, Side("side", self.folder / "clang", flags), program, "-O2")

    def assertChanges(self, name, key, content=None, **fields):
        """An edit of the file `name` changes the input `key`, and no other."""
        before = self.inputs(**fields)
        self.file(name, content or (self.folder / name).read_text() + "\nedited")
        after = self.inputs(**fields)
        self.assertEqual([each for each in before if before[each] != after[each]], [key], name)

    def test_equal_inputs(self):
        self.assertEqual(self.inputs(), self.inputs())

    def test_headers(self):
        self.assertChanges("one.h", "read")
        self.file("one.c", '#include "new.h"\n')
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
            self.file("one.h", content)
            with unittest.mock.patch("mlgo.run.run_folder.tell") as told:
                folder.stage("size/p/side", self.inputs(), {}, work)
        self.assertEqual(len(runs), 2)
        told.assert_called_once_with("size/p/side: runs again, for read changed")

    def test_fingerprints_stand_for_headers(self):
        before = self.inputs(fingerprints=["extra.a"])
        self.file("one.h", "edited")
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


class SharedObjectsTest(BuildTestCase):
    def setUp(self):
        super().setUp()
        clang = self.script("clang", _COMPILER)
        for name in ("stamp", "both.c", "one.c", "other.c"):
            self.file(name, name)
        self.side = Side("side", clang)
        self.toolchain = Toolchain(None, clang, clang, 1, self.folder / "objects")

    def program(self, *sources, fingerprints=("stamp",), **fields):
        return super().program(*sources, fingerprints=list(fingerprints), **fields)

    def compile(self, *sources, side=None, profile=None, more=(), **fields):
        """Contents of the objects."""
        profiles = {} if profile is None else {"-O2": profile}
        program = dataclasses.replace(self.program(*sources, **fields), profiles=profiles)
        with tempfile.TemporaryDirectory() as place:
            objects = compile_objects(self.toolchain, side or self.side, program, pathlib.Path(place), "-O2", more)
            return [path.read_text(encoding="utf-8").strip() for path in objects]

    def test_shared_objects_are_compiled_once(self):
        self.assertEqual(self.compile("both.c", "one.c"), ["1", "2"])
        self.assertEqual(self.compile("other.c", "both.c"), ["3", "1"])

    def test_the_optimiser_runs_once_for_sides_that_decide_after_it(self):
        default = Side("default", self.side.clang, decides_after_optimiser=True)
        policy = dataclasses.replace(default, name="policy", flags=("-mllvm", "-x"))
        self.file("code.S", "")
        self.assertEqual(self.compile("one.c", side=default), ["2"])
        self.assertEqual(self.compile("one.c", "code.S", side=policy), ["3", "4"])
        self.assertEqual(self.compile("one.c", side=policy), ["3"])
        optimise, generate, again, assemble = (self.folder / "started").read_text(encoding="utf-8").splitlines()
        self.assertIn("-emit-llvm -Xclang -emit-llvm-uselists -c one.c", optimise)
        self.assertNotIn("-x ir", optimise)
        self.assertRegex(generate, "-DX -Xclang -disable-llvm-passes -x ir -c .*/objects/[0-9a-f]+[.]o")
        self.assertIn("-mllvm -x -Xclang -disable-llvm-passes -x ir", again)
        self.assertNotIn("ir", assemble.split())

    def test_bitcode_for_the_linker_is_the_same_on_sides_that_decide_after_the_optimiser(self):
        default = Side("default", self.side.clang, decides_after_optimiser=True)
        policy = dataclasses.replace(default, name="policy", flags=("-mllvm", "-x"))
        for side in (default, policy):
            self.assertEqual(self.compile("one.c", side=side, more=("-flto=thin",)), ["1"])

    def test_a_link_with_lto_is_done_once_for_programs_of_the_same_bitcode(self):
        linker = self.file("linker", "linker")
        default = Side("default", self.side.clang, linker=linker, decides_after_optimiser=True)
        policy = dataclasses.replace(default, flags=("-mllvm", "-x"))

        def linked(side, source="one.c", **fields):
            program = dataclasses.replace(self.program(source), **fields)
            with tempfile.TemporaryDirectory() as place:
                image = pathlib.Path(place, "image")
                self.assertTrue(link_through_lto(self.toolchain, side, program, "thin", "-O2", image).is_file())
                return image.read_text(encoding="utf-8").strip()

        self.assertEqual(linked(default), "2")
        self.assertEqual(linked(default, name="another"), "2")
        self.assertEqual(linked(policy), "3")
        self.assertEqual(linked(default, libraries=("-lm",)), "4")
        self.file("linker", "another linker")
        self.assertEqual(linked(default), "5")
        self.assertEqual(linked(default, source="other.c"), "7")

    def test_whatever_decides_about_an_object_makes_another(self):
        self.assertEqual(self.compile("both.c"), ["1"])
        self.assertEqual(self.compile("both.c", option="-DY"), ["2"])
        self.assertEqual(self.compile("both.c", side=Side("other", self.side.clang, ("-mllvm", "-x"))), ["3"])
        self.file("stamp", "changed")
        self.assertEqual(self.compile("both.c"), ["4"])
        self.file("both.c", "changed")
        self.assertEqual(self.compile("both.c"), ["5"])
        for content in ("6", "7"):
            self.assertEqual(self.compile("both.c", profile=self.file("profile", content)), [content])
        self.assertEqual(self.compile("both.c"), ["5"])

    def test_a_profile_is_for_compiles_at_its_level_and_not_for_assembly(self):
        self.file("code.S", "")
        program = dataclasses.replace(self.program("both.c", "code.S"), profiles={"-O2": pathlib.Path("p")})
        for source, level, is_used in (("both.c", "-O2", True), ("both.c", "-Oz", False), ("code.S", "-O2", False)):
            command = compile_command(self.toolchain, self.side, program, source, level, ())
            self.assertEqual("-fprofile-use=p" in command, is_used)

    def test_nothing_is_shared_where_headers_are_not_known(self):
        found = [self.compile("both.c", fingerprints=()), self.compile("both.c", fingerprints=())]
        self.assertEqual(found, [["1"], ["2"]])

    def test_a_failure_leaves_no_object(self):
        for _ in range(2):
            with self.assertRaisesRegex(BuildFailure, "side: both.c: exit code 1: error: broken"):
                self.compile("both.c", option="-Dbroken")
