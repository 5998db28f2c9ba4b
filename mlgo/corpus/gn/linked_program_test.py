import json
import unittest
from unittest import mock

from mlgo.corpus.gn import gn_build, linked_program
from mlgo.corpus.gn.source_root import Layout
from mlgo.run.exit_codes import RunError
from mlgo.run.testing.folder_case import FolderCase

_COMPILE = (
    "../../llvm/bin/clang++ -MMD -MF obj/main.o.d -DNAME=1 -D SPLIT -I../.. -isystem ../../libcxx -Wall -Wa,--crel"
    " -O3 -fPIC -mllvm -x=0 -std=c++23 --sysroot=../../sysroot -nostdinc++ -c ../../main.cc -o obj/main.o"
)
_LINES = [
    _COMPILE,
    "../../llvm/bin/clang -c gen/snapshot.S -o obj/snapshot.o",
    "../../llvm/bin/clang++ -O2 -c ../../base.cc -o obj/base.o",
    "llvm-ar -r obj/libbase.a obj/base.o",
    "python3 wrapper.py --output=shell -- ../../llvm/bin/clang++ -L../../lib -l:libc++.a -o shell ../../rt.a -lsame"
    " rust/libcxx.rlib rust/v2/libcxx.rlib rust/libcxx.rlib"
    " -ldl",
]
_QUERIES = {
    "shell": [
        "shell:",
        "  input: link",
        "    obj/main.o",
        "    obj/libbase.a",
        "    obj/snapshot.o",
        "    | ../../rt.a",
        "    || obj/all.stamp",
        "  outputs:",
        "    obj/other.o",
    ],
    "obj/libbase.a": ["obj/libbase.a:", "  input: alink", "    obj/base.o", "  outputs:", "    shell"],
}


class CommandsTest(unittest.TestCase):
    def test_explicit_inputs_are_those_before_the_bars(self):
        found = gn_build.inputs_in(_QUERIES["shell"] + _QUERIES["obj/libbase.a"], only_explicit=True)
        of_shell = ["obj/main.o", "obj/libbase.a", "obj/snapshot.o"]
        self.assertEqual(found, {"shell": of_shell, "obj/libbase.a": ["obj/base.o"]})
        # All of them are there before a link.
        self.assertEqual(gn_build.inputs_in(_QUERIES["shell"]), {"shell": [*of_shell, "../../rt.a", "obj/all.stamp"]})

    def test_objects_of_archives_stand_in_the_place_of_the_archive_and_once(self):
        inputs = {"p": ["a.o", "x.a", "c.o", "y.a", "b.o"], "x.a": ["b.o"], "y.a": ["d.o", "x.a"]}
        asked = []

        def inputs_of(paths):
            asked.append(list(paths))
            return {path: inputs[path] for path in paths}

        self.assertEqual(linked_program.objects_of("p", inputs_of), ["a.o", "b.o", "c.o", "d.o"])
        self.assertEqual(asked, [["p"], ["x.a", "y.a"]])

    def test_a_module_keeps_what_code_generation_reads(self):
        entry = linked_program.module_entry("obj/main.o.bc", _COMPILE.split(), "../corpus")
        self.assertEqual(entry["directory"], "../corpus")
        kept = "../../llvm/bin/clang++ -MMD -MF obj/main.o.d -Wa,--crel -O3 -fPIC -mllvm -x=0 -x ir -c obj/main.o.bc"
        self.assertEqual(entry["arguments"], kept.split())

    def test_only_the_driver_s_words_are_the_link_s(self):
        self.assertEqual(gn_build.link_words(_LINES)[0], "../../llvm/bin/clang++")
        self.assertEqual(gn_build.link_words([]), [])


class KeepTest(FolderCase):
    def setUp(self):
        super().setUp()
        contents = {
            "src/out/corpus/shell": "program",
            "src/out/corpus/obj/snapshot.o": "snapshot",
            "src/lib/libc++.a": "c++",
            "src/lib/libsame.a": "same",
            "src/rt.a": "rt",
            "src/out/corpus/rust/libcxx.rlib": "Rust",
            "src/out/corpus/rust/v2/libcxx.rlib": "another",
            "corpus/obj/main.o.bc": "",
            "corpus/obj/base.o.bc": "",
        }
        for path, text in contents.items():
            self.file(path, text)
        self.configured = gn_build.Configured(Layout(self.folder), self.folder / "ninja", environment={})

    def keep(self, program):
        def query(_, paths):
            return [line for path in paths for line in _QUERIES[path]]

        with mock.patch.multiple(gn_build, commands=lambda *_: _LINES, query=query):
            linked_program.keep(self.configured, program, self.folder / "corpus", self.folder / "kept")

    def test_the_folder_has_program_commands_objects_and_libraries(self):
        self.keep("shell")
        kept = self.folder / "kept"
        self.assertEqual((kept / "shell").read_text(), "program")
        units = json.loads((kept / "compile_commands.json").read_text())
        self.assertEqual([unit["file"] for unit in units], ["obj/main.o.bc", "obj/base.o.bc"])
        link = json.loads((kept / "shell.link.json").read_text())
        self.assertEqual(link["objects"], ["objects/0000_snapshot.o"])
        self.assertEqual((kept / "objects/0000_snapshot.o").read_text(), "snapshot")
        names = ("libc++.a", "rt.a", "libsame.a", "libcxx.rlib", "4_libcxx.rlib", "libcxx.rlib")
        self.assertEqual(link["libraries"], [*(f"libraries/{name}" for name in names), "-ldl"])
        self.assertEqual((kept / "libraries/4_libcxx.rlib").read_text(), "another")
        self.assertEqual((kept / "libraries/rt.a").read_text(), "rt")

    def test_a_program_that_was_not_linked_is_an_error(self):
        with self.assertRaisesRegex(RunError, "program hell.*is not in .*Name a program that the targets link"):
            self.keep("hell")
