import json
import os
import pathlib

from mlgo.pages.rendering import html
from mlgo.reporting.compose import compose
from mlgo.reporting.reading import read_folder
from mlgo.reporting.records import Content, Evaluation, Run
from mlgo.reporting.testing import made_up
from mlgo.reporting.testing.folder_case import FolderTestCase
from mlgo.run.exit_codes import RunError


class ReadingTest(FolderTestCase):
    def read(self, name="x", workspace=None):
        return read_folder(self.folder, name, workspace)

    def test_a_shipped_policy_is_a_run_with_its_records(self):
        made_up.write_everything(self.folder)
        self.assertEqual([type(record) for record in self.read()], [Run, Evaluation, Content, Content])

    def test_of_two_measurements_in_programs_the_one_in_more_of_them_is_shown(self):
        made_up.write_run(self.folder)
        for inside in ("evaluation", "libraries"):
            made_up.write_evaluation(self.folder / inside, {"trained": 0.012})
        for inside in ("programs", "all_programs"):
            made_up.write_programs(self.folder / inside)
        made_up.write_explanation(self.folder / "explanation")
        places = [pathlib.PurePath(record.place).name for record in self.read(workspace=self.folder.parent)]
        self.assertEqual(places[1:], ["evaluation", "libraries", "all_programs", "explanation"])

    def test_links_in_a_circle_are_followed_once(self):
        made_up.write_evaluation(self.folder, {"trained": 0.012})
        for name in ("evaluation", "programs", "explanation"):
            (self.folder / name).symlink_to(".")
        self.assertEqual([type(record) for record in self.read()], [Evaluation])

    def test_a_run_is_read_with_its_settings(self):
        made_up.write_run(self.folder)
        (run,) = self.read("mine")
        found = run.name, run.problem, run.chosen_iteration, len(run.iterations)
        self.assertEqual(found, ("mine", "regalloc_eviction", 12, 12))
        self.assertEqual([side.name for side in run.held_out.sides], ["policy", "warm_start"])
        self.assertEqual(len(run.held_out.sides[0].rows), 27)
        self.assertEqual(run.held_out.digest, "b1" * 32)

    def test_an_unfinished_run_has_no_policy_and_no_result(self):
        made_up.write_run(self.folder, ended=False)
        (run,) = self.read()
        self.assertEqual((run.chosen_iteration, run.held_out, run.policy), (None, None, {}))

    def test_an_incomplete_last_line_is_ignored(self):
        made_up.write_run(self.folder)
        path = self.folder / "metrics.jsonl"
        path.write_bytes(path.read_bytes() + b'{"kind": "iter')
        self.assertEqual(len(self.read()[0].iterations), 12)

    def test_sides_and_corpora_keep_the_order_in_which_they_were_given(self):
        given = {"z": 0.01, "a": 0.02}
        made_up.write_evaluation(self.folder, given, thresholds={"threshold_25": 0.01}, corpora=("beta", "alpha"))
        (evaluation,) = self.read()
        named = [(corpus.name, corpus.digest) for corpus in evaluation.corpora]
        self.assertEqual(named, [("beta", "b" * 64), ("alpha", "a" * 64)])
        self.assertEqual([side.name for side in evaluation.corpora[0].sides], ["z", "a", "threshold_25"])

    def test_results_without_an_order_have_policies_first_and_thresholds_by_number(self):
        made_up.write_evaluation(self.folder, {"z": 0.01}, thresholds={"threshold_100": 0.0, "threshold_25": 0.01})
        with self.edited("result.json") as content:
            del content["order"]
        (evaluation,) = self.read()
        self.assertEqual([side.name for side in evaluation.corpora[0].sides], ["z", "threshold_25", "threshold_100"])

    def test_results_before_digests_were_recorded_are_read(self):
        made_up.write_evaluation(self.folder, {"z": 0.01})
        with self.edited("result.json") as content:
            for key in ("kind", "problem", "reward"):
                del content[key]
            for corpus in content["corpora"].values():
                del corpus["digest"], corpus["object_code_bytes"]
        (evaluation,) = self.read()
        self.assertEqual((evaluation.problem, evaluation.reward, evaluation.corpora[0].digest), (None, None, None))

    def test_a_place_is_below_the_workspace_or_only_a_name(self):
        made_up.write_run(self.folder)
        name, above = self.folder.name, self.folder.parent
        elsewhere = (pathlib.Path("/elsewhere"), name)
        for workspace, place in ((above, name), (above.parent, f"{above.name}/{name}"), elsewhere):
            self.assertEqual(self.read(workspace=workspace)[0].place, place)

    def test_an_empty_folder_and_none_are_refused(self):
        message = "holds no result that a report can show. Give the folder of a training run"
        with self.assertRaisesRegex(RunError, message):
            self.read()
        with self.assertRaisesRegex(RunError, "is not a folder"):
            read_folder(self.folder / "absent", "x", None)

    def test_what_another_command_recorded_is_no_training_run(self):
        made_up.write_evaluation(self.folder, {"trained": 0.012})
        before = self.read()
        for content in ({"code": {}, "configuration": {"seed": 1}}, {"configuration": "x"}, {}):
            self.file("configuration.json", json.dumps(content))
            self.assertEqual(self.read(), before)

    def test_files_of_another_shape_are_named(self):
        for name, content in (
            ("result.json", {"corpora": {}}),
            ("result.json", {"corpora": {"a": {}}, "policies": {}}),
            ("result.json", []),
            ("configuration.json", []),
            ("configuration.json", {"configuration": {"run": []}}),
            ("configuration.json", {"configuration": {"run": {"problem": 1}}}),
        ):
            with self.subTest(name=name, content=content):
                path = self.file(name, json.dumps(content))
                with self.assertRaisesRegex(RunError, f"{self.folder}.*(lacks|is not)"):
                    self.read()
                path.unlink()

    def test_values_of_other_types_are_one_sentence(self):
        """Reading does not look at every value; what fails later names the results too."""
        made_up.write_everything(self.folder)
        for place, changed in (
            (("policy/policy.json", "training", "inputs", "train_corpus"), 3),
            (("policy/policy.json", "training", "configuration", "run", "algorithm"), ["ppo"]),
            (("policy/policy.json", "training", "inputs"), "b1"),
            (("evaluation/result.json", "problem"), {"a": 1}),
            (("evaluation/result.json", "seed"), [1]),
        ):
            name, *keys, last = place
            text = (self.folder / name).read_text("utf-8")
            with self.edited(name) as inner:
                for key in keys:
                    inner = inner[key]
                inner[last] = changed
            with self.subTest(place), self.assertRaisesRegex(RunError, "^[^\n]*Run the command that wrote it again"):
                html(compose(self.read()))
            (self.folder / name).write_text(text, "utf-8")
        html(compose(self.read()))

    def test_pipes_and_huge_tables_are_not_read(self):
        made_up.write_everything(self.folder)
        os.truncate(self.folder / "evaluation" / "modules.csv", 200 * 1024**3)
        with self.assertRaisesRegex(RunError, "modules.csv.*it has 214748364800 bytes, more than the 1073741824"):
            self.read()
