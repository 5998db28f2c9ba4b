"""Descriptions of a program that a corpus's build has linked."""

import json
import pathlib
import tempfile
import unittest

from mlgo.evaluation.gn.gn_programs import load_gn_programs
from mlgo.evaluation.gn.linked_programs import LinkedPrograms
from mlgo.evaluation.programs.building import Toolchain, compile_command
from mlgo.evaluation.programs.program import load_program
from mlgo.evaluation.sides import Side
from mlgo.run.exit_codes import RunError

_ENTRY = {
    "directory": "../corpus",
    "file": "obj/main.o.bc",
    "arguments": [
        "../bin/clang++",
        "-O3",
        "-fPIC",
        "-Xclang",
        "-fembed-bitcode=all",
        "-x",
        "ir",
        "-c",
        "obj/main.o.bc",
    ],
}


class LinkedProgramsTest(unittest.TestCase):
    def setUp(self):
        self.folder = pathlib.Path(self.enterContext(tempfile.TemporaryDirectory())).resolve()
        description = {
            "about": "a test",
            "inputs": {"main.js": "main.js", "text": ["docs/*.md", "docs/a.md"]},
            "runs": [{"name": "go", "arguments": ["--flag", "main.js"]}],
        }
        contents = {
            "kept/shell.link.json": json.dumps(
                {"objects": ["objects/0_s.o"], "libraries": ["libraries/libc++.a", "-ldl"]}
            ),
            "kept/compile_commands.json": json.dumps([_ENTRY]),
            "kept/objects/0_s.o": "snapshot",
            "kept/libraries/libc++.a": "c++",
            "corpus/obj/main.o.bc": "bitcode",
            "tree/docs/b.md": "two",
            "tree/docs/a.md": "one",
            "main.js": "print(1)",
            "speed.json": json.dumps(description),
        }
        for name, content in contents.items():
            path = self.folder / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(content, encoding="utf-8")
        self.fields = {
            "corpus": "corpus",
            "descriptions": ["speed.json"],
            "folder": "kept",
            "program": "shell",
            "tree": "tree",
        }

    def programs(self, **changes):
        path = self.folder / "programs.json"
        path.write_text(json.dumps({**self.fields, **changes}), encoding="utf-8")
        return load_gn_programs(path, lambda name: self.folder / name)

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
        (self.folder / "training.json").write_text(json.dumps(training))
        found = self.completed("trained", training="training.json").training
        self.assertEqual(sorted(found.inputs), ["other.js", "text"])
        self.assertEqual(found.inputs["text"][0].read_text(), "two")
        self.assertEqual([run.name for run in found.runs], ["train"])

    def test_a_changed_object_changes_the_digest(self):
        before = self.completed().digest()
        (self.folder / "kept/objects/0_s.o").write_text("another snapshot")
        self.assertNotEqual(self.completed("again").digest(), before)

    def test_malformed_input_is_refused(self):
        self.assertIsInstance(self.programs(), LinkedPrograms)
        with self.assertRaisesRegex(RunError, "is not whole"):
            self.programs(tree=None)
        (self.folder / "tree/docs/b.md").unlink()
        (self.folder / "tree/docs/a.md").unlink()
        with self.assertRaisesRegex(RunError, "docs/.*matches no file in .*tree"):
            self.completed()


if __name__ == "__main__":
    unittest.main()
