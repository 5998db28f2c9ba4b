"""Scores of interactive compiles: text as llvm-size counts it, spills as LLVM's remarks report them."""

import dataclasses
import unittest

from mlgo.compiler.compile import compile_module
from mlgo.compiler.request import CompileLimits, CompileRequest, CompileResult
from mlgo.corpus.corpus import Corpus
from mlgo.environments.scores import channel_score, spill_scores
from mlgo.environments.stock_compiles import request_for
from mlgo.problems.inlining_for_size.problem import PROBLEM as INLINING
from mlgo.problems.regalloc_eviction.problem import PROBLEM as EVICTION
from mlgo.run import locate
from mlgo.run.exit_codes import RunError

CLANG = locate.runfile("mlgo/environments/packaged_clang")

REMARKS = b"""\
--- !Missed
Pass:            regalloc
Name:            LoopSpillReloadCopies
Function:        f
Args:
  - NumSpills:       '1'
  - TotalSpillsCost: '7.000000e+00'
...
--- !Missed
Pass:            regalloc
Name:            SpillReloadCopies
DebugLoc:        { File: f.c, Line: 1, Column: 1 }
Function:        f
Args:
  - NumSpills:       '3'
  - String:          ' spills '
  - TotalSpillsCost: '2.000000e+00'
  - NumFoldedSpills: '1'
  - TotalFoldedSpillsCost: '1.000000e+01'
  - NumReloads:      '1'
  - TotalReloadsCost: '5.000000e-01'
  - TotalFoldedReloadsCost: '2.500000e-01'
  - TotalCopiesCost: '5.000000e+00'
  - String:          generated in function
...
--- !Missed
Pass:            regalloc
Name:            SpillReloadCopies
Function:        'it''s'
Args:
  - TotalCopiesCost: '1.000000e+00'
...
"""


def compiled(problem, name):
    modules = Corpus.load(locate.runfile("mlgo/environments/test_corpus")).modules
    (module,) = (module for module in modules if module.name.endswith(name))
    request = request_for(CLANG, module, problem, CompileLimits())
    return request, compile_module(request)


class PartsTest(unittest.TestCase):
    def test_remarks(self):
        self.assertEqual(spill_scores(REMARKS), {"f": 2 + 10 + 4 * 0.5 + 4 * 0.25 + 0.2 * 5, "it's": 0.2})
        self.assertEqual(spill_scores(b""), {})

    def test_damaged_remarks(self):
        with self.assertRaisesRegex(RunError, "without name or function"):
            spill_scores(REMARKS.replace(b"Function: ", b"Fun: "))
        with self.assertRaisesRegex(RunError, "an unknown cost, TotalMysteryCost"):
            spill_scores(REMARKS.replace(b"TotalCopiesCost", b"TotalMysteryCost"))

    def test_real_remarks_and_the_same_object(self):
        request, with_remarks = compiled(EVICTION, "pressure.c")
        scores = spill_scores(with_remarks.files["remarks.yaml"])
        self.assertIn("mix", scores)
        self.assertGreater(scores["mix"], 10)  # 16 values and a pointer, 15 registers, a loop
        plain = compile_module(CompileRequest(CLANG, request.module, EVICTION, want_log=False, want_object=True))
        assert isinstance(plain, CompileResult)
        self.assertEqual(plain.object_bytes, with_remarks.object_bytes)

    def test_text_of_the_whole_module(self):
        _, result = compiled(INLINING, "convolve.cc")
        self.assertGreater(result.code.text_bytes, 100)
        self.assertEqual(channel_score(INLINING).of_parts(result), {"": result.code.text_bytes})


class ImprovementTest(unittest.TestCase):
    def test_values(self):
        for problem in (INLINING, EVICTION):
            score = channel_score(problem)
            self.assertEqual([score.improvement(*pair) for pair in ((99, 199), (0, 0), (3, 0))], [0.5, 0, -3])

    def test_a_problem_without_an_interactive_score(self):
        with self.assertRaisesRegex(ValueError, "interactive_score None is none of text_bytes, spill_cost"):
            channel_score(dataclasses.replace(EVICTION, interactive_score=None))
