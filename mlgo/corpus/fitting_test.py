import pathlib
import tempfile
import unittest

from mlgo.corpus.corpus import Corpus, CorpusError
from mlgo.corpus.fitting import at_levels_of, fitting_modules, tell_properties
from mlgo.corpus.level import build_advice
from mlgo.corpus.testing.made_up_bitcode import FOR_SIZE, MIN_SIZE, made_up_bitcode
from mlgo.corpus.testing.made_up_corpus import made_up_corpus
from mlgo.problems.inlining_for_size.problem import PROBLEM as INLINING
from mlgo.problems.problem import load_problem
from mlgo.problems.regalloc_eviction.problem import PROBLEM as EVICTION
from mlgo.problems.regalloc_priority.problem import PROBLEM as PRIORITY
from mlgo.run.exit_codes import ExitCode
from mlgo.run.testing.folder_case import FolderCase

_INLINING, _EVICTION = load_problem("inlining_for_size"), load_problem("regalloc_eviction")
_FUNCTIONS = [[MIN_SIZE, FOR_SIZE]] * 3
#: Name -> (whether the optimiser has run on it, its command).
_MIXED = {
    "a.o": (False, ("-Oz",)),
    "driver.o": (True, ("-Oz", "-disable-llvm-passes")),
    "ir.o": (True, ("-Oz",)),
    "noinline.o": (False, ("-Oz", "-fno-inline")),
    "z.o": (False, ("-Oz", "-fsanitize=address")),
}


class FittingTest(unittest.TestCase):
    said: list[str]

    def corpus(self, modules, override=None) -> Corpus:
        scratch = self.enterContext(tempfile.TemporaryDirectory())
        self.said, contents = [], {}
        for name, (optimised, command) in modules.items():
            # Modules that differ: equal ones would be one.
            bitcode = made_up_bitcode(_FUNCTIONS, [[FOR_SIZE]] * len(name), optimised=optimised)
            contents[name] = (bitcode, None if override else ("-cc1", *command))
        return made_up_corpus(pathlib.Path(scratch, "c"), contents, command_override=override)

    def fitting(self, problem, corpus) -> list[str]:
        return [module.name for module in fitting_modules(problem, corpus, self.said.append).modules]

    def test_inlining_leaves_out_what_is_inlined_already(self):
        self.assertEqual(self.fitting(_INLINING, self.corpus(_MIXED)), ["a.o", "z.o"])
        optimised, off = self.said
        hold = r"2 of 5 modules hold bitcode that the optimiser has run on.*driver.*\(driver\.o, ir\.o\)$"
        self.assertRegex(optimised, rf"^left out of .*/c: {hold}")
        self.assertRegex(off, r"1 of 5 modules are compiled with inlining off.*\(-fno-inline: noinline\.o\)$")

    def test_code_generation_takes_them(self):
        self.assertEqual(self.fitting(_EVICTION, self.corpus(_MIXED)), sorted(_MIXED))
        self.assertEqual(self.said, [])

    def test_one_command_for_all_modules(self):
        corpus = self.corpus({name: _MIXED[name] for name in ("a.o", "ir.o")}, override=("-Oz",))
        self.assertEqual(self.fitting(_INLINING, corpus), ["a.o"])

    def test_a_corpus_of_nothing_else(self):
        corpus = self.corpus({name: _MIXED[name] for name in ("driver.o", "ir.o")})
        wrong = r"has no module for inlining_for_size: 2 of 2 modules hold bitcode .*\n.*-Xclang -fembed"
        with self.assertRaisesRegex(CorpusError, wrong) as raised:
            self.fitting(_INLINING, corpus)
        self.assertEqual(raised.exception.exit_code, ExitCode.NOTHING_PRODUCED)

    def test_other_properties_are_told(self):
        tell_properties(self.corpus(_MIXED), self.said.append)
        (line,) = self.said
        note = r"^note on .*/c: 1 of 5 modules are built with sanitizers; .* \(-fsanitize=address: z\.o\)$"
        self.assertRegex(line, note)


class LevelCheckTest(FolderCase):
    def setUp(self):
        super().setUp()
        self.told = []

    def corpus(self, *levels: str) -> Corpus:
        """A corpus with a module m00.c, m01.c, ... at each level."""
        commands = [("-cc1", level) if level else ("-cc1",) for level in levels]
        modules = {f"m{number:02}.c": (b"BC%d" % number, command) for number, command in enumerate(commands)}
        return made_up_corpus(self.folder, modules)

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
            f"corpus {self.folder}: has 4 of 4 modules at -O0 (m00.c, m01.c, m02.c, ...), and regalloc_eviction needs"
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
        corpus = made_up_corpus(self.folder, {"m.c": (made_up_bitcode([[]] * 3), None)}, command_override=("-Oz",))
        said = self.refused(INLINING, corpus)
        self.assertIn("has 1 of 1 modules at -O2, as the attributes of their functions say (m.c)", said)
