"""The directory that the rules make: what is in it, that it can be moved, how it is split, what is refused."""

import collections
import json
import pathlib
import unittest

from mlgo.corpus import assemble, command, split, writer
from mlgo.corpus.corpus import Corpus
from mlgo.corpus.description import LICENCES_NAME
from mlgo.run import locate
from mlgo.run.exit_codes import ExitCode, RunError
from mlgo.run.testing.folder_case import FolderCase


class FromSourcesTest(unittest.TestCase):
    def test_names_and_commands(self):
        corpus = Corpus.load(locate.runfile("mlgo/corpus/tiny"))
        names = [module.name for module in corpus.modules]
        self.assertEqual(names, [f"mlgo/corpus/testdata/{name}" for name in ("names.cc", "sum.c")])
        for module in corpus.modules:
            self.assertEqual(module.command[0], "-cc1")
            self.assertIn("-O2", module.command)
            self.assertIn("-emit-obj", module.command)
            self.assertEqual(command.paths_in(module.command), [])
            self.assertNotIn("external", " ".join(module.command))
            self.assertTrue(module.read_bitcode().startswith(b"BC\xc0\xde"))


class PartsTest(unittest.TestCase):
    def test_every_module_is_in_one_part(self):
        parts = {part: Corpus.load(locate.runfile(f"mlgo/corpus/llvm_few_{part}")) for part in split.PARTS}
        names = {part: {module.name for module in corpus.modules} for part, corpus in parts.items()}
        self.assertFalse(names["train"] & names["held_out"])
        self.assertEqual(len(names["train"]) + len(names["held_out"]), 25)
        for part, members in names.items():
            self.assertEqual({split.part_of(name) for name in members}, {part})
        self.assertEqual(len(names["held_out"]), 15)

    def test_the_split_never_moves(self):
        # Known answers: a change here would let modules that were trained on judge the policy.
        self.assertEqual(split.part_of("llvm/lib/Support/APInt.cpp"), "train")
        self.assertEqual(split.part_of("llvm/lib/Support/YAMLTraits.cpp"), "held_out")
        counts = collections.Counter(split.part_of(f"module {index}") for index in range(10_000))
        self.assertAlmostEqual(counts["held_out"] / 10_000, 0.25, delta=0.02)


class AssembleTest(FolderCase):
    def setUp(self):
        super().setUp()
        self.file("m.bc", "BC")
        self.file("m.c", "int f;\n")

    def module(self, source: str, recorded: bytes = b"-cc1\0-O2\0", owner="p/lib", file="m.c") -> assemble.Compiled:
        path = self.file(f"{len(list(self.folder.iterdir()))}.cmd", recorded)
        return assemble.Compiled(source, owner, self.folder / "m.bc", path, self.folder / file, "MIT")

    def assemble(self, modules, skipped=(), part=None, output="out"):
        return assemble.assemble(modules, skipped, self.folder / output, part)

    def report(self):
        return json.loads((self.folder / "out" / writer.REPORT_NAME).read_bytes())

    def test_a_command_with_a_path_of_this_machine(self):
        with self.assertRaisesRegex(RunError, "command of module m: .*-fplugin=/a.so"):
            self.assemble([self.module("m", b"-cc1\0-O2\0-fplugin=/a.so\0")])

    def test_one_source_in_two_targets(self):
        modules = [
            self.module("a.c", owner="p/fast"),
            self.module("a.c", b"-cc1\0-O3\0", owner="p/slow"),
            self.module("b.c", b"-cc1\0-Os\0"),
        ]
        self.assertEqual(self.assemble(modules).modules, ("a.c@@p/fast", "a.c@@p/slow", "b.c"))

    def test_both_are_on_one_side(self):
        for source in ("llvm/lib/Support/APInt.cpp", "llvm/lib/Support/YAMLTraits.cpp"):
            modules = [self.module(source, owner="p/fast"), self.module(source, b"-cc1\0-O3\0", owner="p/slow")]
            part = split.part_of(source)
            self.assertEqual(len(self.assemble(modules, part=part, output=part).modules), 2)

    def test_the_same_compile_twice_is_one_module(self):
        report = self.assemble([self.module("a.c", owner="p/one"), self.module("a.c", owner="p/two")])
        self.assertEqual(report.modules, ("a.c@@p/one",))
        duplicate = {"name": "a.c@@p/two", "kind": "duplicate", "reason": "equals a.c@@p/one"}
        self.assertEqual(self.report()["left_out"], [duplicate])

    def test_licences(self):
        self.file("n.c", b"// SPDX-License-Identifier: Zlib\n")
        self.assemble([self.module("m.c"), self.module("n.c", b"-cc1\0-O3\0", file="n.c")])
        licences = json.loads((self.folder / "out" / LICENCES_NAME).read_bytes())
        self.assertEqual(licences, {"modules": {"m.c": "MIT", "n.c": "Zlib"}})

    def test_what_has_no_bitcode_is_counted_and_listed(self):
        skipped = [assemble.Skipped(f"{name}.S", "p/lib", "assembly") for name in "dacb"]
        skipped += [assemble.Skipped("x.o", "p/lib", "object"), skipped[0]]
        report = self.assemble([self.module("m.c")], skipped)
        self.assertRegex(report.lines()[0], r"  5 without bitcode .*: a\.S, b\.S, c\.S, \.\.\.")
        self.assertEqual(self.report()["counts"], {"no_bitcode": 5})
        self.assertIn({"name": "x.o", "kind": "no_bitcode", "reason": "object, of p/lib"}, self.report()["left_out"])

    def test_nothing_optimised(self):
        with self.assertRaisesRegex(RunError, "all 2 modules: are compiled at -O0, .* build with `-c opt`"):
            self.assemble([self.module("a", b"-cc1\0-O0\0"), self.module("b", b"-cc1\0")])
        self.assemble([self.module("a", b"-cc1\0-O0\0"), self.module("b")])
        self.assertEqual(self.report()["unoptimised"], ["a"])

    def test_nothing_left(self):
        for part, said in ((split.HELD_OUT, "in the part held_out"), (None, "C or C\\+\\+")):
            modules = [self.module("llvm/lib/Support/APInt.cpp")] if part else []
            with self.assertRaisesRegex(RunError, f"none of them is {said}") as caught:
                self.assemble(modules, part=part)
            self.assertEqual(caught.exception.exit_code, ExitCode.NOTHING_PRODUCED)

    def test_the_list(self):
        lines = "module\tn\to\ta.bc\ta.cmd\tsrc/n\tMIT\nskipped\tx.S\to\tassembly\n"
        compiled, skipped = assemble.parse_list(lines)
        path = pathlib.Path
        self.assertEqual(compiled, [assemble.Compiled("n", "o", path("a.bc"), path("a.cmd"), path("src/n"), "MIT")])
        self.assertEqual(skipped, [assemble.Skipped("x.S", "o", "assembly")])

    def test_equal_input_gives_an_equal_directory(self):
        modules = [self.module("b/m"), self.module("a/m", b"-cc1\0-O3\0")]
        for name, order in (("one", modules), ("two", modules[::-1])):
            self.assertEqual(len(self.assemble(order, output=name).modules), 2)
        self.assertEqual(Corpus.load(self.folder / "one").digest, Corpus.load(self.folder / "two").digest)
        for path in (self.folder / "one").rglob("*.json"):
            self.assertEqual(path.read_bytes(), (self.folder / "two" / path.name).read_bytes())
