"""Corpora at wrong levels are refused with one sentence; few modules at wrong levels are left out and named."""

import pathlib
import tempfile
import unittest

from mlgo.corpus.building import build_advice
from mlgo.corpus.corpus import Corpus, CorpusError
from mlgo.corpus.level_check import at_levels_of
from mlgo.corpus.testing.made_up_bitcode import made_up_bitcode
from mlgo.corpus.writer import CorpusWriter
from mlgo.problems.inlining_for_size.problem import PROBLEM as INLINING
from mlgo.problems.regalloc_eviction.problem import PROBLEM as EVICTION
from mlgo.problems.regalloc_priority.problem import PROBLEM as PRIORITY


class LevelCheckTest(unittest.TestCase):
    def setUp(self):
        temporary = tempfile.TemporaryDirectory()
        self.addCleanup(temporary.cleanup)
        self.root = pathlib.Path(temporary.name)
        self.told = []

    def corpus(self, *levels: str) -> Corpus:
        """A corpus with a module m00.c, m01.c, ... at each level."""
        with CorpusWriter(self.root) as writer:
            for number, level in enumerate(levels):
                writer.add(f"m{number:02}.c", b"BC%d" % number, ("-cc1", *([level] if level else [])))
            writer.finish()
        return Corpus.load(self.root)

    def refused(self, problem, corpus: Corpus) -> str:
        with self.assertRaises(CorpusError) as raised:
            at_levels_of(problem, corpus, self.told.append)
        self.assertEqual(self.told, [])
        return str(raised.exception)

    def test_fitting_corpora_are_not_touched(self):
        for problem, levels in ((INLINING, ("-Oz", "-Os")), (EVICTION, ("-O1", "-O2", "-O3", "-Os", "-Oz"))):
            corpus = self.corpus(*levels)
            self.assertIs(at_levels_of(problem, corpus, self.told.append), corpus)
        self.assertEqual(self.told, [])

    def test_a_corpus_that_is_not_optimised(self):
        said = self.refused(EVICTION, self.corpus("", "-O0", "-O0", ""))
        self.assertEqual(
            said,
            f"corpus {self.root}: has 4 of 4 modules at -O0 (m00.c, m01.c, m02.c, ...), and regalloc_eviction needs"
            " -O1, -O2, -O3, -Os or -Oz, because code at -O0 is not optimised and has no such decision."
            f" {build_advice('O2')}",
        )
        self.assertIn("-O0", self.refused(PRIORITY, self.corpus("-O0")))

    def test_code_for_speed_is_none_for_inlining_for_size(self):
        said = self.refused(INLINING, self.corpus(*["-O2"] * 30, "-O3", "-Oz"))
        self.assertIn("has 30 of 32 modules at -O2 and 1 of 32 modules at -O3 (m00.c, m01.c, m02.c, ...)", said)
        self.assertIn("inlining_for_size needs -Os or -Oz, because", said)
        self.assertIn("-DCMAKE_CXX_FLAGS_RELEASE='-Oz -DNDEBUG'", said)
        self.assertIn("CFLAGS='-Oz -Xclang -fembed-bitcode=all'", said)

    def test_few_modules_are_left_out_and_named(self):
        corpus = self.corpus(*["-Oz"] * 19, "-O3", "-O0")
        found = at_levels_of(INLINING, corpus, self.told.append)
        self.assertEqual([module.name for module in found.modules], [f"m{number:02}.c" for number in range(19)])
        (said,) = self.told
        self.assertIn("left out of", said)
        self.assertIn("1 of 21 modules at -O3 and 1 of 21 modules at -O0 (m19.c, m20.c); inlining_for_size needs", said)

    def test_more_than_a_tenth_is_refused(self):
        corpus = self.corpus(*["-Oz"] * 18, "-O3", "-O3")
        self.assertEqual(len(at_levels_of(INLINING, corpus, self.told.append).modules), 18)
        self.told.clear()
        self.refused(INLINING, self.corpus(*["-Oz"] * 17, "-O3", "-O3"))

    def test_code_for_speed_that_is_compiled_for_size(self):
        with CorpusWriter(self.root, command_override=("-Oz",)) as writer:
            writer.add("m.c", made_up_bitcode([[]] * 3), None)
            writer.finish()
        said = self.refused(INLINING, Corpus.load(self.root))
        self.assertIn("has 1 of 1 modules at -O2, as the attributes of their functions say (m.c)", said)


if __name__ == "__main__":
    unittest.main()
