"""Which module goes where. Known answers of `part_of` are in assemble_test.py."""

import unittest

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from mlgo.corpus import split
from mlgo.corpus.corpus import Corpus
from mlgo.corpus.split import HELD_OUT, TRAIN, write_parts
from mlgo.corpus.writer import CorpusWriter
from mlgo.run.exit_codes import ExitCode, RunError
from mlgo.run.testing.folder_case import FolderCase

NAMES = st.lists(st.text("ab/", min_size=1, max_size=8), unique=True, min_size=1, max_size=20)
#: Machines are busy: how long an example takes says nothing.
UNHURRIED = settings(deadline=None, suppress_health_check=[HealthCheck.too_slow])


class SplitTest(unittest.TestCase):
    def test_few_modules_make_two_parts(self):
        for prefix in "abcdefgh":
            for count in range(2, 40):
                names = [f"{prefix}{index}" for index in range(count)]
                parts = split.with_both_parts(split.by_hash(names))
                held_out = sum(part == HELD_OUT for part in parts.values())
                self.assertGreaterEqual(held_out, max(1, count // 8))
                self.assertLessEqual(held_out, max(1, count // 2))

    def test_as_few_sources_as_necessary_move(self):
        names = [f"m{index}" for index in range(40)]
        self.assertEqual(split.with_both_parts(split.by_hash(names)), split.by_hash(names))
        moved = split.with_both_parts(dict.fromkeys(names, TRAIN))
        self.assertEqual(sum(part == HELD_OUT for part in moved.values()), 5)
        moved = split.with_both_parts(dict.fromkeys(["a", "a@@x", "b"], HELD_OUT))
        self.assertEqual({moved["a"], moved["b"]}, {TRAIN, HELD_OUT})
        self.assertEqual(moved["a"], moved["a@@x"])

    def test_one_source_is_never_on_both_sides(self):
        for index in range(40):
            source = f"lib{index}/a.c"
            parts = split.by_hash([source, f"{source}@@lib/fast", f"{source}@@lib/slow"])
            self.assertEqual(len(set(parts.values())), 1)

    @UNHURRIED
    @given(NAMES, st.integers(2, 7))
    def test_the_part_depends_on_the_name_alone(self, names, one_in):
        whole = split.by_hash(names, one_in)
        self.assertEqual(list(whole), names)
        for name in names:
            self.assertEqual(split.by_hash([name], one_in), {name: whole[name]})
        self.assertEqual(split.by_hash(names), {name: split.part_of(name) for name in names})


class PartsTest(FolderCase):
    def corpus(self, count: int) -> Corpus:
        with CorpusWriter(self.folder / "whole", False, None) as writer:
            for index in range(count):
                writer.add(f"m{index}", b"BC\xc0\xde" + bytes([index]), ("-O2",), None, "MIT")
            writer.finish()
        return Corpus.load(self.folder / "whole")

    def test_every_module_is_in_the_part_that_its_name_says_and_writing_again_changes_nothing(self):
        corpus = self.corpus(20)
        parts = split.by_hash(module.name for module in corpus.modules)
        digests = []
        for _ in range(2):
            write_parts(corpus, parts, self.folder / "parts")
            written = {part: Corpus.load(self.folder / "parts" / part) for part in split.PARTS}
            digests.append({part: corpus.digest for part, corpus in written.items()})
        self.assertEqual({module.name: part for part in written for module in written[part].modules}, parts)
        self.assertEqual(digests[0], digests[1])

    def test_an_empty_part_is_an_error(self):
        corpus = self.corpus(2)
        with self.assertRaisesRegex(RunError, "none of its 2 modules would be in the part held_out") as raised:
            write_parts(corpus, {"m0": split.TRAIN, "m1": split.TRAIN}, self.folder / "parts")
        self.assertEqual(raised.exception.exit_code, ExitCode.NOTHING_PRODUCED)
