"""Programs of a gn project, with scripts in place of gn and ninja, and of one that a corpus's build has linked."""

import json
import os
import pathlib
import unittest

from mlgo.corpus.gn.gn_build import compile_entries, libraries
from mlgo.evaluation.gn.gn_programs import LinkedPrograms, load_gn_programs
from mlgo.evaluation.programs.building import Toolchain, compile_command
from mlgo.evaluation.programs.program import load_program
from mlgo.evaluation.sides import Side
from mlgo.run.exit_codes import RunError
from mlgo.run.testing.folder_case import FolderCase

_LINES = [
    "../../mlgo_toolchain/bin/clang++ -MMD -MF obj/main.o.d '-DNAME=\"a b\"' -O2 -fPIC -c ../../src/main.cc"
    " -o obj/main.o",
    "touch obj/all.stamp",
    "../../mlgo_toolchain/bin/clang -DSMALL -c '../../src/a part.c' -o obj/part.o",
    "python3 ar.py -c obj/part.o",
    "python3 ../../link.py --output=./quick -- ../../bin/clang++ -nostdlib++ -L../../lib -o ./quick obj/main.o"
    " -l:libc++.a -lm",
]
_GN = """#!/bin/sh
cat ../../mlgo_corpus/BUILD.gn ../../mlgo_programs/BUILD.gn | grep broken && exit 1
exit 0
"""
_NINJA = """#!/bin/sh
[ "$3 $4 $5" = "-t commands mlgo_programs:quick" ] || exit 1
cat "{lines}"
"""


_ENTRY = {
    "directory": "../corpus",
    "file": "obj/main.o.bc",
    "arguments": "../bin/clang++ -O3 -fPIC -Xclang -fembed-bitcode=all -x ir -c obj/main.o.bc".split(),
}


class ProgramsTestCase(FolderCase):
    """Has a folder, whose files `fields` names as the rules do."""

    fields: dict[str, object]

    def write(self, contents):
        for name, content in contents.items():
            self.file(name, content, 0o755)

    def programs(self, **changes):
        path = self.file("programs.json", json.dumps({**self.fields, **changes}))
        return load_gn_programs(path, lambda name: self.folder / name)


class CommandsTest(unittest.TestCase):
    def test_compiles_are_found_among_all_that_ninja_runs(self):
        entries = compile_entries(_LINES, "/out")
        self.assertEqual([entry["file"] for entry in entries], ["../../src/a part.c", "../../src/main.cc"])
        self.assertEqual({entry["directory"] for entry in entries}, {"/out"})
        self.assertIn('-DNAME="a b"', entries[1]["arguments"])

    def test_libraries_are_those_of_the_link(self):
        self.assertEqual(libraries(_LINES), ["-nostdlib++", "-L../../lib", "-l:libc++.a", "-lm"])
        self.assertEqual(libraries([]), [])


class GnProgramsTest(ProgramsTestCase):
    def setUp(self):
        super().setUp()
        description = {
            "name": "quick",
            "about": "a test",
            "inputs": {"text": "text", "code": ["../../src/*.cc"]},
            "runs": [{"name": "go", "arguments": ["text"]}],
        }
        contents = {
            "tree/.gn": "",
            "tree/src/main.cc": "int main() {}",
            "tree/src/a part.c": "int part;",
            "BUILD.gn": 'executable("quick") {}',
            "own.h": "",
            "stamp.json": "1",
            "text": "one",
            "lines": "\n".join(_LINES) + "\n",
            "gn": _GN,
            "ninja": _NINJA.format(lines=self.folder / "lines"),
            "python": "",
            "quick.json": json.dumps(description),
        }
        self.write(contents)
        self.fields = {
            **{name: name for name in ("tree", "gn", "ninja", "python")},
            "gn_args": {"is_debug": "false"},
            "env": {},
            "toolchain": {"bin": "."},
            "path": [],
            "fingerprints": ["stamp.json"],
            "srcs": ["own.h", "BUILD.gn"],
            "descriptions": ["quick.json"],
        }

    def test_a_description_is_completed_by_the_build_system(self):
        (path,) = self.programs().complete(["quick"], self.folder / "work")
        program = load_program(path, {})
        build = self.folder / "work/gn/src/out/corpus"
        self.assertEqual((program.name, program.about, program.root), ("quick", "a test", build))
        self.assertEqual(program.sources, ("../../src/a part.c", "../../src/main.cc"))
        self.assertEqual(program.compile_flags("../../src/main.cc"), ['-DNAME="a b"', "-fPIC"])
        self.assertEqual(program.libraries, ("-nostdlib++", "-L../../lib", "-l:libc++.a", "-lm"))
        self.assertEqual([path.name for path in program.fingerprints], ["stamp.json", "own.h"])
        program.write_inputs(self.folder)
        found = [(self.folder / name).read_text(encoding="utf-8") for name in ("text", "code")]
        self.assertEqual(found, ["one", "int main() {}"])
        self.assertEqual((build / "args.gn").read_text(encoding="utf-8"), "is_debug = false\n")
        self.assertIn('"//mlgo_programs:quick"', (build / "../../mlgo_corpus/BUILD.gn").read_text(encoding="utf-8"))

    def test_it_is_the_same_wherever_it_lies(self):
        digests = set()
        for name in ("here", "there"):
            (path,) = self.programs().complete(["quick"], self.folder / name)
            digests.add(load_program(path, {}).digest())
        self.assertEqual(len(digests), 1)

    def test_malformed_input_is_refused(self):
        for changes, message in (
            ({"tree": None}, "is not whole"),
            ({"toolchain": []}, "is not whole"),
            ({"gn_args": {"a b": "1"}}, "gn argument 'a b'"),
        ):
            with self.subTest(message), self.assertRaisesRegex(RunError, message):
                self.programs(**changes).complete(["quick"], self.folder / "work")
        self.file("list.json", "[]")
        self.file("ninja", f'#!/bin/sh\ncat "{self.folder / "lines"}"\n')
        with self.assertRaisesRegex(RunError, "list.json: is not a JSON object"):
            self.programs(descriptions=["list.json"]).complete(["list"], self.folder / "work")
        self.file("ninja", _NINJA.format(lines=self.folder / "lines"))
        self.file("lines", "touch all\n")
        with self.assertRaisesRegex(RunError, "program quick: is made by no compile command"):
            self.programs().complete(["quick"], self.folder / "work")
        self.file("BUILD.gn", "broken")
        with self.assertRaisesRegex(RunError, "gn gen of //mlgo_corpus:corpus: failed"):
            self.programs().complete(["quick"], self.folder / "work")
        os.rename(self.folder / "quick.json", self.folder / "slow.json")
        self.file("BUILD.gn", "")
        with self.assertRaisesRegex(RunError, "ninja -t commands mlgo_programs:slow: failed"):
            self.programs(descriptions=["slow.json"]).complete(["slow"], self.folder / "work")


class LinkedProgramsTest(ProgramsTestCase):
    def setUp(self):
        super().setUp()
        description = {
            "about": "a test",
            "inputs": {"main.js": "main.js", "text": ["docs/*.md", "docs/a.md"]},
            "runs": [{"name": "go", "arguments": ["--flag", "main.js"]}],
        }
        contents = {
            "kept/shell.link.json": '{"objects": ["objects/0_s.o"], "libraries": ["libraries/libc++.a", "-ldl"]}',
            "kept/compile_commands.json": json.dumps([_ENTRY]),
            "kept/objects/0_s.o": "snapshot",
            "kept/libraries/libc++.a": "c++",
            "corpus/obj/main.o.bc": "bitcode",
            "tree/docs/b.md": "two",
            "tree/docs/a.md": "one",
            "main.js": "print(1)",
            "speed.json": json.dumps(description),
        }
        self.write(contents)
        self.fields = {
            "corpus": "corpus",
            "descriptions": ["speed.json"],
            "folder": "kept",
            "program": "shell",
            "tree": "tree",
        }

    def completed(self, name="work", **changes):
        (path,) = self.programs(**changes).complete(["speed"], self.folder / name)
        return load_program(path, {})

    def test_units_are_modules_and_the_rest_is_linked_as_it_is(self):
        program = self.completed()
        self.assertEqual((program.name, program.root), ("speed", self.folder / "corpus"))
        self.assertEqual(program.sources, ("obj/main.o.bc",))
        self.assertEqual(program.libraries, ("../kept/objects/0_s.o", "../kept/libraries/libc++.a", "-ldl", "-lm"))
        self.assertEqual([path.name for path in program.fingerprints], ["0_s.o", "libc++.a"])

    def test_a_side_compiles_the_module(self):
        toolchain = Toolchain(None, pathlib.Path("/ld.lld"), pathlib.Path("/clang"), 1)
        side = Side("policy", pathlib.Path("/clang"), ("-mllvm", "-policy=1"))
        command = compile_command(toolchain, side, self.completed(), "obj/main.o.bc", "-O2", ())
        self.assertEqual(command[-7:], ["-fPIC", "-x", "ir", "-mllvm", "-policy=1", "-c", "obj/main.o.bc"])
        self.assertNotIn("-O3", command)
        self.assertNotIn("-fembed-bitcode=all", command)

    def test_inputs_come_from_the_tree_or_from_beside_the_description(self):
        run = self.folder / "run"
        run.mkdir()
        self.completed().write_inputs(run)
        self.assertEqual((run / "main.js").read_text(), "print(1)")
        self.assertEqual((run / "text").read_text(), "one\ntwo\none")

    def test_training_has_its_own_inputs(self):
        self.assertIsNone(self.completed().training)
        runs = [{"name": "train", "arguments": ["other.js"]}]
        training = {"inputs": {"other.js": "main.js", "text": ["docs/b.md"]}, "runs": runs}
        self.file("training.json", json.dumps(training))
        found = self.completed("trained", training="training.json").training
        self.assertEqual(sorted(found.inputs), ["other.js", "text"])
        self.assertEqual(found.inputs["text"][0].read_text(), "two")
        self.assertEqual([run.name for run in found.runs], ["train"])

    def test_a_changed_object_changes_the_digest(self):
        before = self.completed().digest()
        self.file("kept/objects/0_s.o", "another snapshot")
        self.assertNotEqual(self.completed("again").digest(), before)

    def test_malformed_input_is_refused(self):
        self.assertIsInstance(self.programs(), LinkedPrograms)
        with self.assertRaisesRegex(RunError, "is not whole"):
            self.programs(tree=None)
        (self.folder / "tree/docs/b.md").unlink()
        (self.folder / "tree/docs/a.md").unlink()
        with self.assertRaisesRegex(RunError, "docs/.*matches no file in .*tree"):
            self.completed()
