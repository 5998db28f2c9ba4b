"""From what opt prints to scores: an opt and an estimator of which the truth is known."""

import unittest
from unittest import mock

import hypothesis
import numpy as np
from hypothesis import strategies

from mlgo.compiler import process
from mlgo.compiler.request import CompileResult
from mlgo.problems.inlining_for_size.problem import PROBLEM
from mlgo.run.exit_codes import RunError
from mlgo.run.testing.folder_case import FolderCase
from mlgo.score.function_scores import FunctionScore
from mlgo.score.problem_score import score_of
from mlgo.size_estimator.estimated_code import EstimatedCode, available_elsewhere, comdats_by_function
from mlgo.size_estimator.estimator import SizeEstimator

_MODULE = r"""
$shared = comdat any
@comdat = global i32 0, comdat
define dso_local noundef i32 @plain(i32 noundef %comdat) local_unnamed_addr #0 section "a comdat b" align 2 {
define linkonce_odr void @shared(ptr %0) unnamed_addr comdat align 2 personality ptr @__gxx_personality_v0 {
define weak_odr void @_ZN1AD2Ev(ptr %0) #1 comdat($_ZN1AD5Ev) align 2 !dbg !7 {
define internal fastcc void @"odd \22name\22"() comdat($"odd group") {
define available_externally void @elsewhere() {
declare void @declared() comdat
"""

# One count per function, of 4 bytes each.
_LAYERS = (np.zeros((1, 1)), np.zeros(1), np.zeros(1), np.zeros(1))
_ESTIMATOR = SizeEstimator(("Count",), np.array([4.0, 0.0]), np.zeros(1), np.ones(1), _LAYERS, 0.5)
_SAID = "Printing analysis results of CFA for function '{}':\n{}: {}\n"


class TextTest(unittest.TestCase):
    def test_every_form_of_a_definition(self):
        expected = {"plain": None, "shared": "shared", "_ZN1AD2Ev": "_ZN1AD5Ev", 'odd "name"': "odd group"}
        self.assertEqual(comdats_by_function(_MODULE), expected)
        self.assertEqual(available_elsewhere(_MODULE), {"elsewhere"})

    @hypothesis.given(strategies.text(strategies.characters(codec="utf-8"), min_size=1), strategies.booleans())
    def test_any_name_comes_back(self, name, quoted_comdat):
        """As llvm/lib/IR/AsmWriter.cpp, printLLVMName, and printEscapedString write it."""
        plain = {byte for byte in range(32, 127) if byte not in b'"\\'}
        written = "".join(chr(byte) if byte in plain else f"\\{byte:02X}" for byte in name.encode("utf-8"))
        comdat = f'comdat($"{written}")' if quoted_comdat else "comdat"
        self.assertEqual(comdats_by_function(f'define void @"{written}"(i32 %0) {comdat} {{'), {name: name})


class EstimatedCodeTest(FolderCase):
    def estimated(self, properties: str, code: int = 0) -> EstimatedCode:
        """With an opt that prints `properties`, wants the bitcode as its input, and prints that as the module."""
        opt = self.script("opt", f"cat >&2 <<'END'\n{properties}\nEND\ncat\nexit {code}")
        return EstimatedCode(_ESTIMATOR, opt)

    def test_scores(self):
        counts = {"plain": 25, "shared": 3, "elsewhere": 1000}
        said = "\n".join(_SAID.format(name, "Count", count) for name, count in counts.items())
        code = self.estimated(said)(_MODULE.encode(), "m.cpp")
        scores = score_of(PROBLEM).read(CompileResult("m.cpp", None, None, 0.0, estimated_code=code))
        functions = {"plain": FunctionScore(0, 100.0), "shared": FunctionScore(0, 12.0, "shared")}
        self.assertEqual(scores, {**functions, "": FunctionScore(0, 0.0)})

    def test_a_module_without_functions(self):
        self.assertEqual(self.estimated("")(b"", "m.cpp").functions, ())

    def test_no_function_is_smaller_than_a_byte(self):
        code = self.estimated(_SAID.format("plain", "Count", 0))(_MODULE.encode(), "m.cpp")
        self.assertEqual([function.size for function in code.functions], [1])

    @mock.patch.object(process, "_MOST_OUTPUT_BYTES", 1 << 20)
    def test_bitcode_whose_text_fills_the_memory(self):
        estimated = self.estimated("Function: f")
        self.script("opt", "exec yes")
        with self.assertRaisesRegex(RunError, "does not work on optimised bitcode of m: it writes more than 1,048,576"):
            estimated(b"BC", "m")

    def test_what_opt_cannot_do(self):
        refused = "optimised bitcode of m.cpp: opt refuses it: expected top-level entity. Give opt of the LLVM"
        unknown = "of m.cpp: has no definition of 'f', of which opt says properties. Use opt of LLVM 22"
        for said, code, message in (
            ("expected top-level entity", 1, refused),
            (_SAID.format("f", "Count", 1), 0, unknown),
            (_SAID.format("plain", "Other", 1), 0, "function properties: lack 'Count'"),
        ):
            with self.assertRaisesRegex(RunError, message):
                self.estimated(said, code)(_MODULE.encode(), "m.cpp")
