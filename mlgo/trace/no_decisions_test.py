"""The error of a corpus without decisions names the reason that commands and functions show."""

from mlgo.corpus.testing.made_up_bitcode import OPTIMIZE_NONE, made_up_bitcode
from mlgo.corpus.testing.made_up_corpus import made_up_corpus
from mlgo.problems.inlining_for_size.problem import PROBLEM as INLINING
from mlgo.problems.regalloc_eviction.problem import PROBLEM as EVICTION
from mlgo.run.exit_codes import ExitCode
from mlgo.run.testing.folder_case import FolderCase
from mlgo.trace.no_decisions import no_decisions


class NoDecisionsTest(FolderCase):
    def said(self, problem, *modules: tuple[str, bytes]) -> str:
        """The error for a corpus of (options, bitcode)."""
        named = {
            name: (content + name.encode() * 4, ("-cc1", *options.split()))
            for name, (options, content) in zip("abcdef", modules)
        }
        error = no_decisions(made_up_corpus(self.folder, named), problem)
        self.assertEqual(error.exit_code, ExitCode.NOTHING_PRODUCED)
        return str(error)

    def test_not_optimised(self):
        said = self.said(EVICTION, ("-O0", b"BC"), ("", b"BC"))
        self.assertIn("no function of 2 modules has a decision of regalloc_eviction and a score; 2 of 2 modules", said)
        self.assertIn("are at -O0, which does not optimise. Build with clang at -O2", said)

    def test_functions_that_must_not_be_optimised(self):
        said = self.said(INLINING, ("-Oz", made_up_bitcode([[OPTIMIZE_NONE]] * 3)))
        self.assertIn("3 of the first 3 functions have the attribute optnone", said)
        self.assertIn("Build with clang at -Oz", said)

    def test_an_optimiser_that_is_off(self):
        modules = [("-Oz -disable-llvm-passes", b"BC"), ("-Oz", b"BC")]
        self.assertIn("the commands of 1 of 2 modules have -disable-llvm-passes", self.said(INLINING, *modules))
        # So is that of every module from which register allocation is learned.
        self.assertNotIn("-disable-llvm-passes", self.said(EVICTION, *modules))

    def test_no_reason_to_be_seen(self):
        said = self.said(EVICTION, ("-O2", made_up_bitcode([[]])))
        self.assertTrue(said.endswith("and a score. Give a corpus of optimised code with larger functions"), said)
