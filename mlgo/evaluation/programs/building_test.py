"""Commands, and sharing of objects between programs."""

import dataclasses
import json
import pathlib
import tempfile
import unittest

from mlgo.evaluation.programs.building import BuildFailure, Toolchain, compile_command, compile_objects
from mlgo.evaluation.programs.lto_building import link_through_lto
from mlgo.evaluation.programs.program import load_program
from mlgo.evaluation.sides import Side

# Its object tells how often it was started before.
_CLANG = """#!/bin/sh
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


class SharedObjectsTest(unittest.TestCase):
    def setUp(self):
        self.folder = pathlib.Path(self.enterContext(tempfile.TemporaryDirectory()))
        clang = self.folder / "clang"
        clang.write_text(_CLANG.format(folder=self.folder), encoding="utf-8")
        clang.chmod(0o755)
        for name in ("stamp", "both.c", "one.c", "other.c"):
            (self.folder / name).write_text(name, encoding="utf-8")
        self.side = Side("side", clang)
        self.toolchain = Toolchain(None, clang, clang, 1, self.folder / "objects")

    def program(self, *sources, fingerprints=("stamp",), option="-DX"):
        entries = [
            {"directory": str(self.folder), "file": source, "arguments": ["clang", option, source]}
            for source in sources
        ]
        (self.folder / "commands.json").write_text(json.dumps(entries), encoding="utf-8")
        description = {
            "name": "p",
            "compile_commands": "commands.json",
            "fingerprints": list(fingerprints),
            "runs": [{"name": "go"}],
        }
        (self.folder / "p.json").write_text(json.dumps(description), encoding="utf-8")
        return load_program(self.folder / "p.json", {})

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
        (self.folder / "code.S").write_text("", encoding="utf-8")
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
        linker = self.folder / "linker"
        linker.write_text("linker", encoding="utf-8")
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
        linker.write_text("another linker", encoding="utf-8")
        self.assertEqual(linked(default), "5")
        self.assertEqual(linked(default, source="other.c"), "7")

    def test_whatever_decides_about_an_object_makes_another(self):
        self.assertEqual(self.compile("both.c"), ["1"])
        self.assertEqual(self.compile("both.c", option="-DY"), ["2"])
        self.assertEqual(self.compile("both.c", side=Side("other", self.side.clang, ("-mllvm", "-x"))), ["3"])
        (self.folder / "stamp").write_text("changed", encoding="utf-8")
        self.assertEqual(self.compile("both.c"), ["4"])
        (self.folder / "both.c").write_text("changed", encoding="utf-8")
        self.assertEqual(self.compile("both.c"), ["5"])
        profile = self.folder / "profile"
        for content in ("6", "7"):
            profile.write_text(content, encoding="utf-8")
            self.assertEqual(self.compile("both.c", profile=profile), [content])
        self.assertEqual(self.compile("both.c"), ["5"])

    def test_a_profile_is_for_compiles_at_its_level_and_not_for_assembly(self):
        (self.folder / "code.S").write_text("", encoding="utf-8")
        program = dataclasses.replace(self.program("both.c", "code.S"), profiles={"-O2": pathlib.Path("p")})
        for source, level, is_used in (("both.c", "-O2", True), ("both.c", "-Oz", False), ("code.S", "-O2", False)):
            command = compile_command(self.toolchain, self.side, program, source, level, ())
            self.assertEqual("-fprofile-use=p" in command, is_used)

    def test_nothing_is_shared_where_headers_are_not_known(self):
        self.assertEqual(
            [self.compile("both.c", fingerprints=()), self.compile("both.c", fingerprints=())], [["1"], ["2"]]
        )

    def test_a_failure_leaves_no_object(self):
        for _ in range(2):
            with self.assertRaisesRegex(BuildFailure, "side: both.c: exit code 1: error: broken"):
                self.compile("both.c", option="-Dbroken")


if __name__ == "__main__":
    unittest.main()
