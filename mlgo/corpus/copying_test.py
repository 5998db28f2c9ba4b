"""Copied modules bring the files that their commands name, and no others."""

import pathlib
import tempfile
import unittest

from mlgo.corpus.copying import copy_modules
from mlgo.corpus.corpus import Corpus
from mlgo.corpus.writer import CorpusWriter


class CopyingTest(unittest.TestCase):
    def setUp(self):
        scratch = tempfile.TemporaryDirectory()
        self.addCleanup(scratch.cleanup)
        self.root = pathlib.Path(scratch.name)

    def test_carried_files_come_with_the_modules_that_name_them(self):
        carried = {}
        with CorpusWriter(self.root / "whole") as writer:
            for name in ("a", "b", "c", "unnamed"):
                (self.root / name).write_text(name, encoding="utf-8")
                carried[name] = writer.add_file(self.root / name)
            writer.add("one", b"BC1", ("-cc1", f"-fa={carried['a']}:{carried['b']}", "-O2"))
            writer.add("two", b"BC2", ("-cc1", f"-fb={carried['b']}"))
            writer.add("three", b"BC3", ("-cc1", f"-fc={carried['c']}"))
            writer.finish()
        corpus = Corpus.load(self.root / "whole")
        with CorpusWriter(self.root / "part") as writer:
            copy_modules(corpus, corpus.select(["one", "two"]).modules, writer)
            writer.finish()
        self.assertEqual(set(Corpus.load(self.root / "part").carried_files), {carried["a"], carried["b"]})

    def test_the_work_of_a_module_does_not_grow_with_the_carried_files(self):
        class Counted(str):
            """A command's word that counts how often a file is looked for in it."""

            looked = 0

            def __contains__(self, other):
                Counted.looked += 1
                return super().__contains__(other)

        with CorpusWriter(self.root / "whole") as writer:
            for number in range(60):
                (self.root / f"f{number}").write_text(str(number), encoding="utf-8")
                carried = writer.add_file(self.root / f"f{number}")
                writer.add(f"m{number}", b"BC%d" % number, ("-cc1", f"-f={carried}"))
            writer.finish()
        corpus = Corpus.load(self.root / "whole")
        names = corpus.carried_files

        class Selected:
            """A module whose command counts."""

            def __init__(self, module):
                self.name, self.licence = module.name, module.licence
                self.recorded_command = tuple(map(Counted, module.recorded_command))
                self.read_bitcode, self.read_thinlto_index = module.read_bitcode, module.read_thinlto_index

        with CorpusWriter(self.root / "copy") as writer:
            copy_modules(corpus, map(Selected, corpus.modules), writer)
            writer.finish()
        self.assertEqual(Corpus.load(self.root / "copy").carried_files, names)
        # Looked for in every command, the files would be looked for 60 times as often.
        self.assertLessEqual(Counted.looked, 4 * len(names))


if __name__ == "__main__":
    unittest.main()
