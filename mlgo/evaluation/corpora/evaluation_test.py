"""Evaluations by simulated compilers with known effects; tables and result files."""

import contextlib
import csv
import dataclasses
import io
import json
import pathlib
import shlex
import tempfile
import unittest
from unittest import mock

import numpy as np

from mlgo.compiler.request import CompileFailure, CompileLimits, CompileResult, FailureKind
from mlgo.compiler.symbols import Demangler
from mlgo.compiler.testing import fake_clang
from mlgo.compiler.testing.made_up_object import made_up_object
from mlgo.compiler.training_log import TrainingLog
from mlgo.corpus.corpus import Corpus
from mlgo.evaluation.corpora import evaluation, tables
from mlgo.evaluation.corpora.evaluation import Evaluation
from mlgo.evaluation.corpora.results import Results
from mlgo.evaluation.sides import Side, compiler_sides
from mlgo.problems.inlining_for_size.problem import PROBLEM
from mlgo.run.exit_codes import ExitCode, RunError
from mlgo.run.run_folder import RunFolder
from mlgo.run.tabular import encode_csv
from mlgo.trace.setup import CompileSetup

_MODULES = [f"m{index}.cpp" for index in range(6)]


class MadeUpCompilers:
    """An executor that compiles nothing: a module's function has `sizes[module]` bytes, and with -other `other[module]`
    (None: it crashes). Where decisions are logged, each of `deciding` has one."""

    def __init__(self, sizes, other, deciding=_MODULES):
        self._sizes, self._other, self._deciding = sizes, other, deciding

    def run_ordered(self, requests):
        for request in requests:
            name = request.module.name
            size = (self._other if "-other" in request.extra_flags else self._sizes)[name]
            if size is None:
                yield CompileFailure(name, FailureKind.CRASH, "made up")
            else:
                yield CompileResult(name, self._log(request), made_up_object({"f": size, "g": 7}), 0.0)

    def _log(self, request):
        decisions = np.zeros(int(request.module.name in self._deciding), np.int64)
        return TrainingLog(["f"], decisions, {}, decisions, np.array([np.nan]), {}) if request.want_log else None

    def close(self):
        """Nothing is kept."""


class EvaluationTest(unittest.TestCase):
    corpus: Corpus
    folder: RunFolder
    clang: pathlib.Path

    @classmethod
    def setUpClass(cls):
        root = pathlib.Path(cls.enterClassContext(tempfile.TemporaryDirectory()))
        fake_clang.write_corpus(root / "corpus", {name: name.encode() for name in _MODULES})
        cls.corpus = Corpus.load(root / "corpus")
        cls.folder = RunFolder(root / "out")
        cls.folder.claim({"code": {}})
        cls.clang = root / "no_clang"
        cls.clang.write_text("#!/bin/sh\n", encoding="utf-8")
        cls.clang.chmod(0o755)

    def evaluated(self, name, sizes, other, only=None, seed=1, deciding=_MODULES, side=None, linker=None, further=()):
        side = side or Side("other", self.clang, ("-other",))
        compilers = MadeUpCompilers(sizes, other, deciding)
        setup = CompileSetup(self.clang, PROBLEM, CompileLimits(), 1, 0.5, compilers)
        whole = Evaluation(self.folder, setup, {"made up": name}, seed, None, linker)
        return whole.of_corpus(name, self.corpus, [side, *further], lambda side: None, only)

    def written(self, place, results, flags_of=lambda regression: [], demangler=None):
        """The folder of the files, and what was shown."""
        with contextlib.redirect_stdout(io.StringIO()) as shown:
            results.write(self.folder.path / place, flags_of, demangler)
        return self.folder.path / place, shown.getvalue()

    def test_equal_compilers_give_an_empty_interval_at_1(self):
        sizes = {name: 100 + index for index, name in enumerate(_MODULES)}
        result = self.evaluated("equal", sizes, sizes)
        summary = result.comparison.summaries["other"]
        self.assertEqual((summary.low, summary.geometric_mean, summary.high), (1.0, 1.0, 1.0))
        self.assertEqual(tables.worst_regressions([result], ["other"], 5), [])

    def test_a_corpus_without_a_decision_is_an_error_and_not_on_par(self):
        sizes = dict.fromkeys(_MODULES, 93)
        with self.assertRaisesRegex(RunError, "no function of 6 modules has a decision of inlining_for_size") as raised:
            self.evaluated("undecided", sizes, sizes, deciding=())
        self.assertEqual(raised.exception.exit_code, ExitCode.NOTHING_PRODUCED)
        # One decision, taken as by default, is enough; so is code that differs.
        self.evaluated("one decision", sizes, sizes, deciding=_MODULES[-1:])
        self.evaluated("other code", sizes, {**sizes, "m2.cpp": 94}, deciding=())

    def test_a_module_that_fails_on_one_side_is_left_out_on_both_and_listed(self):
        sizes = dict.fromkeys(_MODULES, 93)
        result = self.evaluated("failing", sizes, {**sizes, "m1.cpp": None, "m2.cpp": 193})
        self.assertEqual(result.comparison.failed, {"m1.cpp": "other: crash"})
        self.assertEqual(result.comparison.summaries["other"].modules, len(_MODULES) - 1)
        self.assertEqual({module for side in result.code.values() for module in side}, set(_MODULES) - {"m1.cpp"})
        worst = tables.worst_regressions([result], ["other"], 5)
        self.assertEqual([(each.module, each.default_score, each.score) for each in worst], [("m2.cpp", 100.0, 200.0)])
        self.assertAlmostEqual(worst[0].ratio, 2.0, places=3)

    def test_a_side_may_have_a_compiler_of_its_own(self):
        program = self.folder.path / "other clang"
        program.with_name("object").write_bytes(made_up_object({"f": 43, "g": 7}))
        copy = f"""while [ "$1" != -o ]; do shift; done\nexec cp '{program.with_name("object")}' "$2"\n"""
        program.write_text(f"#!/bin/sh\n{copy}", encoding="utf-8")
        program.chmod(0o755)
        (side,) = compiler_sides([f"mine={program}"], ["trained"])
        sizes = dict.fromkeys(_MODULES, 93)
        result = self.evaluated("compilers", sizes, dict.fromkeys(_MODULES), side=side)
        self.assertEqual(result.comparison.failed, {})
        self.assertAlmostEqual(result.comparison.summaries["mine"].geometric_mean, 0.5, places=3)

    def test_a_single_module_gives_the_same_ratio_as_in_the_whole_corpus(self):
        sizes = dict.fromkeys(_MODULES, 93)
        other = {**sizes, "m2.cpp": 193}
        among = self.evaluated("among", sizes, other)
        alone = self.evaluated("alone", sizes, other, only=["m2.cpp"])
        expected = [row for row in among.comparison.rows if row.module == "m2.cpp"]
        self.assertEqual(alone.comparison.rows, expected)
        self.assertNotEqual(alone.digest, among.digest)

    def test_an_image_names_the_modules_that_it_says_nothing_about(self):
        sizes, linker = dict.fromkeys(_MODULES, 93), pathlib.Path(__file__)
        linked = {name: 0 if name in _MODULES[:2] else 100 for name in _MODULES}
        with mock.patch.object(evaluation, "link_side", return_value=linked):
            result = self.evaluated("covered", sizes, sizes, linker=linker)
        content = result.to_json()
        self.assertEqual((content["coverage"]["with_code"], content["coverage"]["in_image"]), (6, 4))
        self.assertEqual(content["coverage"]["absent"], {"m0.cpp": 100, "m1.cpp": 100})
        self.assertEqual(content["not_compared"], [])
        _, shown = self.written("cover", Results([result], ["other"], {"other": "d1"}, {}))
        self.assertRegex(shown, r"covered: the linked image holds code of 4 of 6 modules.*: m0\.cpp, m1\.cpp")
        few = {name: 100 if name in _MODULES[:2] else 0 for name in _MODULES}
        with mock.patch.object(evaluation, "link_side", return_value=few):
            with self.assertRaisesRegex(RunError, "linked image of few: holds code of only 2 of 6 modules with code"):
                self.evaluated("few", sizes, sizes, linker=linker)

    def test_results_are_written_with_commands_that_reproduce_regressions(self):
        sizes = dict.fromkeys(_MODULES, 93)
        result = self.evaluated("written", sizes, {**sizes, "m1.cpp": None, "m2.cpp": 193})
        results = Results([result], ["other"], {"other": "d1"}, {"problem": PROBLEM.name, "seed": 1})
        flags = "--policy={0.policy} --corpus={0.corpus}"
        folder, shown = self.written("results", results, lambda regression: flags.format(regression).split())
        content = json.loads((folder / "result.json").read_bytes())
        self.assertEqual((content["kind"], content["policies"], content["seed"]), ("evaluation", {"other": "d1"}, 1))
        self.assertEqual(list(content["corpora"]), ["written"])
        command = "    ./bazelw run //mlgo:evaluate -- --policy=other --corpus=written --module_filter='^m2\\.cpp$'"
        self.assertIn(command, (folder / "worst_regressions.md").read_text(encoding="utf-8"))
        self.assertIn("modules left out because they failed to compile: m1.cpp (other: crash)", shown)
        small = "written, other: too small for a claim: only 5 modules were compared, and a claim needs 8"
        self.assertIn(small, shown)
        self.assertIn("too small for a claim", (folder / "summary.md").read_text(encoding="utf-8"))
        self.assertEqual(content["order"], {"sides": ["other"], "corpora": ["written"]})
        with self.assertRaisesRegex(RunError, "0 corpora: have no function or module to compare"):
            Results([], [], {}, {}).write(folder, lambda regression: [])

    def test_the_worst_of_all_corpora_is_shown_first(self):
        slight = self.evaluated("slight", dict.fromkeys(_MODULES, 100), dict.fromkeys(_MODULES, 101))
        severe = self.evaluated("severe", dict.fromkeys(_MODULES, 100), {**dict.fromkeys(_MODULES, 100), "m2.cpp": 170})
        _, shown = self.written("worst", Results([slight, severe], ["other"], {"other": "d1"}, {}))
        worst = shown.split("Worst regressions:\n")[1].splitlines()
        self.assertTrue(worst[0].startswith("  severe, other: m2.cpp"), worst[0])

    def test_names_of_modules_bring_nothing_into_the_text(self):
        sizes = dict.fromkeys(_MODULES, 93)
        result, hostile = self.evaluated("hostile", sizes, {**sizes, "m2.cpp": 193}), "m2\n<script>\r\x1b.cpp"
        rows = [dataclasses.replace(row, module=hostile) for row in result.comparison.rows]
        result = dataclasses.replace(result, comparison=dataclasses.replace(result.comparison, rows=rows))
        folder, _ = self.written("hostile", Results([result], ["other"], {"other": "d1"}, {}))
        lines = (folder / "worst_regressions.md").read_bytes().decode("utf-8").splitlines()
        (pattern,) = {word for line in lines for word in shlex.split(line) if word.startswith("--module_filter=")}
        self.assertRegex(hostile, pattern.partition("=")[2])
        self.assertEqual(
            [line for line in lines if "<script>" in line and not line.startswith(("    ", "hostile"))], []
        )

    def test_texts_have_demangled_names_and_data_have_mangled_ones(self):
        sizes = dict.fromkeys(_MODULES, 93)
        result = self.evaluated("names", sizes, {**sizes, "m2.cpp": 193})
        rows = [dataclasses.replace(row, function="_Z1fv") for row in result.comparison.rows]
        result = dataclasses.replace(result, comparison=dataclasses.replace(result.comparison, rows=rows))
        program = self.folder.path / "cxxfilt"
        program.write_text("#!/bin/sh\nsed 's/_Z1fv/f()/'\n", encoding="utf-8")
        program.chmod(0o755)
        results = Results([result], ["other"], {"other": "d1"}, {})
        folder, shown = self.written("names", results, demangler=Demangler(program))
        self.assertRegex(shown, r"names, other: m2\.cpp, f\(\): \d+ -> \d+")
        self.assertIn("m2.cpp, f():", (folder / "worst_regressions.md").read_text("utf-8"))
        self.assertIn("_Z1fv", (folder / "modules.csv").read_text("utf-8"))

    def test_the_verdict_names_what_it_rests_on(self):
        """Five modules become smaller; the one that carries the sum becomes larger: six are too few for a claim."""
        sizes = {**dict.fromkeys(_MODULES, 93), "m2.cpp": 9993}
        other = {**dict.fromkeys(_MODULES, 83), "m2.cpp": 11993}
        few, many = self.evaluated("few", sizes, other), self.evaluated("many", sizes, sizes)
        folder, shown = self.written("verdicts", Results([few, many], ["other"], {"other": "d1"}, {"seed": 1}))
        said = "few, other: too small for a claim: only 6 modules were compared, and a claim needs 8;"
        self.assertIn(said, shown)
        self.assertIn("  99 % of the sum is in 5 of 6 modules: m2.cpp 95 %", shown)
        self.assertRegex(shown, r"All corpora, other: no difference .* 2 corpora.*; worst few \+18\.57 %\n")
        self.assertRegex(shown, r"Their scores as one sum: \+9\.2\d % \[.*\]; 50 % of it is of few")
        self.assertIn(f"- {said}", (folder / "summary.md").read_text("utf-8"))
        content = json.loads((folder / "result.json").read_bytes())
        self.assertEqual(content["corpora"]["few"]["verdict"]["other"]["claim"], "too small for a claim")
        self.assertEqual(content["corpora"]["few"]["weighted_sum"]["other"]["heaviest"][0]["module"], "m2.cpp")
        self.assertEqual(content["weighted_sum"]["other"]["summary"]["functions"], 12)

    def test_the_same_without_ml_is_the_best_option_or_the_default(self):
        sizes = dict.fromkeys(_MODULES, 93)
        for size, said in ((100, "the default, for no option"), (83, "threshold_5 -10.00 %")):
            other = dict.fromkeys(_MODULES, size)
            threshold = Side("threshold_5", self.clang, ("-other",))
            result = self.evaluated(f"options{len(said)}", sizes, other, further=[threshold])
            folder, shown = self.written("options", Results([result], ["other", "threshold_5"], {}, {"seed": 1}))
            self.assertIn(f"; the same without ML: {said}", shown)
            content = json.loads((folder / "result.json").read_bytes())["corpora"]
            (of_corpus,) = content.values()
            self.assertEqual(of_corpus["without_ml"], said.partition(" ")[0] if "_" in said else "default")
            self.assertEqual(list(of_corpus["verdict"]), ["other"])  # Another compiler has one too.

    def test_tables_hold_every_module_and_function(self):
        sizes = dict.fromkeys(_MODULES, 93)
        result = self.evaluated("tables", sizes, {**sizes, "m2.cpp": 193})
        compared = (tables.COMPARED_COLUMNS, tables.compared_rows)
        for columns, rows in (compared, (tables.FUNCTION_COLUMNS, tables.function_rows)):
            content = encode_csv(columns, rows([result], ["other"])).decode()
            from_csv = list(csv.DictReader(io.StringIO(content)))
            self.assertGreaterEqual(len(from_csv), len(_MODULES))
        sizes_of = {(row["module"], row["function"]): row["code_bytes"] for row in from_csv}
        for name, size in ((("m2.cpp", "f"), "193"), (("m2.cpp", "g"), "7"), (("m1.cpp", "f"), "93")):
            self.assertEqual(sizes_of[name], size)

    def test_a_function_that_only_one_side_has_is_no_zero(self):
        result = self.evaluated("one_side", dict.fromkeys(_MODULES, 93), dict.fromkeys(_MODULES, 93))
        result.code["other"]["m3.cpp"].pop("f")
        rows = [row for row in tables.function_rows([result], ["other"]) if row[2:4] == ("m3.cpp", "f")]
        self.assertEqual(rows, [("one_side", "other", "m3.cpp", "f", 93, None)])

    def test_text_tables_have_interval_and_number_of_samples(self):
        sizes = dict.fromkeys(_MODULES, 93)
        result = self.evaluated("people", sizes, {**sizes, "m2.cpp": 193})
        for text in (
            tables.markdown([result], ["other"], "modules"),
            "\n".join(tables.table_lines([result], ["other"], "modules")),
        ):
            self.assertRegex(text, r"\+12\.25 % \[[+-]\d")
            self.assertIn("0/1/5 of 6", text)
            self.assertIn("+16.67 %", text)
