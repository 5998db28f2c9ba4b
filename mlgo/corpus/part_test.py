"""Parts of a corpus that are not written equal those that are."""

import pathlib
import tempfile
import unittest

from mlgo.corpus import split
from mlgo.corpus.corpus import Corpus
from mlgo.corpus.part import equal_modules, part_of_corpus
from mlgo.corpus.parts import write_parts
from mlgo.corpus.writer import CorpusWriter


class PartTest(unittest.TestCase):
    def setUp(self):
        scratch = tempfile.TemporaryDirectory()
        self.addCleanup(scratch.cleanup)
        self.folder = pathlib.Path(scratch.name)

    def write(self, override: bool = False, merge: bool = True) -> Corpus:
        """Eight modules, each with a profile of its own among its options, and m8, which equals m1."""
        with CorpusWriter(self.folder / "whole", False, ("-cc1", "-O2") if override else None, merge=merge) as writer:
            for index in range(9):
                number = 1 if index == 8 else index
                profile = self.folder / f"p{number}.profdata"
                profile.write_text(str(number))
                command = None if override else ("-cc1", f"-fprofile-use={writer.add_file(profile)}")
                writer.add(f"m{index}", f"bitcode {number}".encode(), command)
            writer.finish()
        return Corpus.load(self.folder / "whole", ["-mllvm -stats"])

    def test_digests_are_those_of_written_parts(self):
        for override in (False, True):
            with self.subTest(override=override):
                whole = self.write(override)
                parts = split.with_both_parts(split.by_hash(module.name for module in whole.modules))
                write_parts(whole, parts, self.folder / "parts")
                for part in split.PARTS:
                    written = Corpus.load(self.folder / "parts" / part, ["-mllvm -stats"])
                    found = part_of_corpus(whole, [name for name in parts if parts[name] == part])
                    self.assertEqual(found.digest, written.digest)
                    self.assertEqual(found.carried_files, written.carried_files)
                    names = [module.name for module in found.modules]
                    self.assertEqual(names, [module.name for module in written.modules])
                    self.assertEqual(found.select(names[:1]).carried_files, written.carried_files)

    def test_equal_modules(self):
        self.assertEqual(equal_modules(self.write(merge=False).modules), {"m8": "m1"})
        self.assertEqual(equal_modules(self.write().modules), {})


if __name__ == "__main__":
    unittest.main()
