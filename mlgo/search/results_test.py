"""Tests of results: the files of a search that was made up, and its summary."""

import json
import unittest

from mlgo.evaluation.corpora.coverage import Coverage
from mlgo.run.exit_codes import RunError
from mlgo.run.testing.folder_case import FolderCase
from mlgo.search.corpus_search import ModuleResult
from mlgo.search.image import LinkedSelection
from mlgo.search.results import Tuned, curve
from mlgo.search.tuning import FOUND, check_sizes

MODULES = {
    "a.c": ModuleResult(
        100.0, 99.0, 90.0, 8, 70, 400, False, ((1, 100.0), (9, 90.0)), 12, 5, ("all calls of f: inlined",)
    ),
    "b.c": ModuleResult(50.0, None, 20.0, 4, 9, 11, True, ((1, 50.0), (3, 20.0)), 0, 0, ()),
}
IMAGE = LinkedSelection({"a.c": FOUND, "b.c": "default"}, {"a.c": 88, "b.c": 50}, {"default": {"a.c": 100, "b.c": 50}})


class ResultsTest(FolderCase):
    def setUp(self):
        super().setUp()
        coverage = Coverage(4, ["d.c"], {"c.c": 30})
        tuned = Tuned(MODULES, IMAGE, b"mlgo-decisions 1\n", ["c.c"], coverage=coverage)
        self.lines = tuned.write(self.folder, {"budget": 30.0}, 1)

    def test_the_result(self):
        content = json.loads((self.folder / "result.json").read_text(encoding="utf-8"))
        names = ["curve.csv", "modules.csv", "result.json", "summary.md", "tuned.decisions"]
        self.assertEqual(sorted(path.name for path in self.folder.iterdir()), names)
        self.assertEqual((content["kind"], content["budget"]), ("tuning", 30.0))
        self.assertEqual((content["compiles"], content["tried"]), (79, 411))
        self.assertEqual(content["linked_code_bytes"], {"default": 150, "tuned": 138})
        self.assertEqual(content["modules_of_the_start"], ["b.c"])
        self.assertEqual([gain["module"] for gain in content["gains"]], ["b.c", "a.c"])
        self.assertEqual((content["cut"]["modules"], content["cut"]["untried"]), (1, 12))
        self.assertEqual(content["cut"]["largest"][0]["next_tries"], ["all calls of f: inlined"])
        self.assertEqual((content["coverage"]["in_image"], content["coverage"]["absent"]), (2, {"c.c": 30}))
        self.assertEqual(content["vanished"], [])
        self.assertEqual(content["curve"][-1], [9, 110.0, -0.266667])

    def test_the_summary(self):
        said = "\n".join(self.lines)
        for part in (
            "2 modules searched with 79 compiles, which tried 411 changes; 1 stopped by the number of compiles",
            "would go on with 12 changes, in 5 compiles",
            "Modules left to the compiler: c.c",
            "-mllvm -mlgo-decisions=",
            "holds code of 2 of 3 modules with code",
        ):
            self.assertIn(part, said)

    def test_a_module_that_vanished_is_named(self):
        image = LinkedSelection({"a.c": FOUND, "b.c": FOUND}, {"a.c": 88, "b.c": 0}, IMAGE.starts)
        tuned = Tuned(MODULES, image, b"mlgo-decisions 1\n", [])
        said = "\n".join(tuned.write(self.folder, {}, 1))
        self.assertIn("Modules of which the tuned image holds no code any more: b.c", said)


def result(default: float, *steps: tuple[int, float]) -> ModuleResult:
    return ModuleResult(default, None, steps[-1][1], 3, 10, 20, True, steps, 0, 0, ())


class ModulesTest(unittest.TestCase):
    def test_a_refinement_adds_its_compiles_and_leaves_the_sizes(self):
        both = MODULES["a.c"].continued(result(70.0, (1, 70.0), (3, 60.0)))
        self.assertEqual((both.compiles, both.tried, both.complete, both.untried), (80, 420, True, 0))
        self.assertEqual((both.default, both.best, both.curve), (100.0, 90.0, MODULES["a.c"].curve))

    def test_curves_add_up(self):
        modules = {"a": result(100.0, (1, 100.0), (4, 90.0)), "b": result(300.0, (1, 280.0), (4, 270.0), (9, 200.0))}
        self.assertEqual(curve(modules), [(0, 400.0, 0.0), (1, 380.0, -0.05), (4, 360.0, -0.1), (9, 290.0, -0.275)])
        # No bytes are no change.
        self.assertEqual(curve({"a": result(0.0, (1, 0.0))}), [(0, 0.0, 0.0), (1, 0.0, 0.0)])

    def test_a_module_of_another_size(self):
        check_sizes(MODULES, {"a.c": 90.0, "b.c": 20.005})
        with self.assertRaisesRegex(RunError, "module b.c: has 21.0 bytes with the decisions found, and had 20.0"):
            check_sizes(MODULES, {"a.c": 90.0, "b.c": 21.0})
