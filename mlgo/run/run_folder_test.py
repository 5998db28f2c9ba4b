import pathlib
import tempfile
import unittest
from unittest import mock

from mlgo.run import files, manifest, run_folder
from mlgo.run.exit_codes import RunError
from mlgo.run.run_folder import CONFIGURATION_NAME, TIMINGS_NAME, RunFolder

IDENTITY = {"code": {"score": "1"}}


class FolderCase(unittest.TestCase):
    def setUp(self):
        self.path = pathlib.Path(self.enterContext(tempfile.TemporaryDirectory()), "run")

    def open(self):
        folder = RunFolder(self.path)
        self.addCleanup(folder.close)
        return folder

    def claimed(self):
        folder = self.open()
        folder.claim(IDENTITY)
        return folder


class RunFolderTest(FolderCase):
    def test_one_process_at_a_time(self):
        first = RunFolder(self.path)
        with self.assertRaisesRegex(RunError, "is in use by another run. Wait for it, or: Give another --output_dir"):
            RunFolder(self.path)
        first.close()
        self.open()

    def test_only_the_same_run_is_resumed(self):
        folder = self.open()
        (folder.work / "x").mkdir(parents=True)
        self.assertFalse(folder.claim({**IDENTITY, "seed": 1, "corpus": {"digest": "a", "sizes": (1, 2)}}))
        self.assertFalse(folder.work.exists())
        self.assertTrue(folder.claim({**IDENTITY, "seed": 1, "corpus": {"digest": "a", "sizes": [1, 2]}}))
        wrong = r"another configuration:\n  corpus.digest: was 'a', now 'b'\n  seed: was 1"
        with self.assertRaisesRegex(RunError, wrong):
            folder.claim({**IDENTITY, "seed": None, "corpus": {"digest": "b", "sizes": [1, 2]}})

    def test_a_run_may_add_to_what_grows_and_changes_nothing(self):
        folder, grows = self.open(), ("inputs", "inputs.corpora", "configuration.sides", "programs")
        first = {**IDENTITY, "inputs": {"corpora": {"a": "1"}}, "programs": ["x"]}
        first["configuration"] = {"sides": {"r": ["x"]}}
        more = {**first, "inputs": {"corpora": {"a": "1", "b": "2"}, "counter": "3"}, "programs": ["y", "x"]}
        more["configuration"] = {"sides": {"r": ["x"], "mine": []}}
        self.assertFalse(folder.claim(first, grows=grows))
        folder.stage("a", {}, {}, lambda path: {})
        with self.assertRaisesRegex(RunError, r"configuration.sides.mine: was None, now \[\]\n  inputs"):
            folder.claim(more)
        self.assertTrue(folder.claim(more, grows=grows))
        folder.stage("a", {}, {}, lambda path: self.fail("the stage runs again"))
        self.assertTrue(folder.claim(more))  # It is recorded.
        other_digest = {"corpora": {"a": "4", "b": "2"}, "counter": "3"}
        for changed, message in (
            ({**more, "inputs": other_digest}, "inputs.corpora.a: was '1', now '4'"),
            (first, "inputs.corpora.b: was '2', now None"),
            ({**more, "programs": ["y"]}, r"programs: was \['y', 'x'\], now \['y'\]"),
            ({**more, "configuration": {"sides": {"r": ["x", "y"], "mine": []}}}, r"sides.r: was \['x'\], now"),
            ({**more, "seed": 1}, "seed: was None, now 1"),
        ):
            with self.subTest(message), self.assertRaisesRegex(RunError, message):
                folder.claim(changed, grows=grows)

    def test_other_code_is_another_run(self):
        folder = self.claimed()
        folder.stage("trace", {}, {}, lambda path: {})
        wrong = r"results of another version of mlgo \(what differs: score\). Give another --output_dir, or delete"
        with self.assertRaisesRegex(RunError, f"holds {wrong}"):
            folder.claim({"code": {"score": "2"}})
        (self.path / CONFIGURATION_NAME).unlink()
        with self.assertRaisesRegex(RunError, "earlier version of mlgo, which does not say what they rest on"):
            folder.claim(IDENTITY)

    def test_runs_in_folders_below_are_none_of_this_run(self):
        below = RunFolder(self.path / "inlining")
        self.addCleanup(below.close)
        below.claim(IDENTITY)
        below.stage("trace/train", {}, {}, lambda path: {})
        self.assertFalse(self.open().claim(IDENTITY))

    def test_timings_of_other_types_are_an_error(self):
        folder = self.open()
        for content, message in (([], "is not a JSON object"), ({"trace": "long"}, "'trace' that is not a number")):
            files.write_json_atomically(self.path / TIMINGS_NAME, content)
            with self.assertRaisesRegex(RunError, f"timings .*{message}. Delete the file"):
                folder.claim(IDENTITY)

    def test_a_folder_of_others_leads_no_write_elsewhere(self):
        outside = self.path.with_name("outside")
        outside.mkdir()
        links = {"policy": ".", "work": ".", "trace/modules": ".", "metrics.jsonl": "file", ".lock": "lock"}
        for number, (name, target) in enumerate(links.items()):
            path = self.path / str(number)
            with self.subTest(name):
                (path / name).parent.mkdir(parents=True)
                (path / name).symlink_to(outside / target)
                with self.assertRaisesRegex(RunError, "--output_dir=.*(leads out of it|symbolic links)"):
                    RunFolder(path)
                self.assertEqual(list(outside.iterdir()), [])

    def test_a_folder_of_others_loses_nothing(self):
        (self.path / "work").mkdir(parents=True)
        (self.path / "work" / "thesis.tex").write_text("mine")
        for _ in range(2):  # The first attempt leaves nothing by which the second would take it for a run's.
            with self.assertRaisesRegex(RunError, "holds the folder work, and is not .*. Give a new or an empty"):
                self.open()
        self.assertEqual([path.name for path in self.path.rglob("*")], ["work", "thesis.tex"])

    def test_the_run_of_others_loses_nothing(self):
        folder = self.claimed()
        folder.work.mkdir()
        with self.assertRaisesRegex(RunError, "another version"):
            folder.claim({"code": {"score": "2"}})
        self.assertTrue(folder.work.exists())

    def test_only_the_build_tree_has_links_to_sources(self):
        (self.path / "build").mkdir(parents=True)
        (self.path / "build" / "src").symlink_to(self.path.parent)
        RunFolder(self.path, "build").close()
        with self.assertRaisesRegex(RunError, "holds the symbolic link build/src, which leads out of it"):
            RunFolder(self.path)
        (self.path / "other").symlink_to(self.path.parent)
        with self.assertRaisesRegex(RunError, "holds the symbolic link other, which leads out of it"):
            RunFolder(self.path, "other")

    def test_links_inside_and_the_folder_itself_as_a_link(self):
        self.path.mkdir()
        (self.path / "latest").symlink_to("trace")
        self.path.with_name("link").symlink_to("run")
        self.path = self.path.with_name("link")
        self.open()


class StageTest(FolderCase):
    def setUp(self):
        super().setUp()
        self.found: list[list[str]] = []
        self.told: list[str] = []
        self.is_interrupted = False
        self.enterContext(mock.patch.object(run_folder, "tell", self.told.append))
        self.opened, self.folder = self.claimed(), self.path / "trace"

    def work(self, folder):
        self.found.append(sorted(path.name for path in folder.iterdir() if path.name != run_folder.STARTED_NAME))
        (folder / f"file{len(self.found)}").write_text("content")
        if self.is_interrupted:
            (folder / ".half.x.partial").touch()
            raise KeyboardInterrupt
        return {"runs": len(self.found)}

    def stage(self, corpus="1", seed=1):
        return self.opened.stage("trace", {"corpus": corpus}, {"seed": seed}, self.work)

    def test_second_run_is_skipped_and_the_seconds_are_kept(self):
        first = self.stage()
        self.assertEqual(self.stage(), first)
        self.assertEqual((self.found, first.summary), ([[]], {"runs": 1}))
        self.assertEqual(sorted(first.outputs), ["file1", run_folder.STARTED_NAME])
        files.write_json_atomically(self.path / TIMINGS_NAME, {"trace": 5.0})
        self.opened.claim(IDENTITY)
        self.assertEqual(self.opened.seconds, {"trace": 5.0})

    def test_interrupted_stage_continues_without_unfinished_files(self):
        self.is_interrupted = True
        with self.assertRaises(KeyboardInterrupt):
            self.stage()
        self.is_interrupted = False
        self.assertEqual(self.stage().summary, {"runs": 2})
        self.assertEqual(self.found, [[], ["file1"]])

    def test_other_inputs_begin_anew(self):
        for corpus, seed in (("1", 1), ("2", 1), ("2", 2)):
            self.stage(corpus, seed)
        self.assertEqual(self.found, [[], [], []])
        self.assertEqual(self.told, [f"trace: runs again, for {name} changed" for name in ("corpus", "seed")])

    def test_code_is_an_input_of_every_stage(self):
        first = self.stage()
        (self.path / CONFIGURATION_NAME).unlink()
        self.folder.rename(self.path / "kept")
        self.opened.claim({"code": {"score": "2"}})
        (self.path / "kept").rename(self.folder)
        self.assertNotEqual(first.inputs["code"], self.stage().inputs["code"])
        self.assertEqual(self.found, [[], []])

    def test_a_stage_that_does_not_say_what_it_is_of_begins_anew(self):
        self.stage()
        (self.folder / run_folder.STARTED_NAME).unlink()
        self.stage()
        self.assertIn("does not say what its results rest on", self.told[0])

    def test_damaged_output_runs_the_stage_again(self):
        self.stage()
        (self.folder / "file1").write_text("other")
        self.assertEqual(self.stage().summary, {"runs": 2})
        self.assertIsNotNone(manifest.read(self.folder))

    def test_no_stage_runs_in_a_folder_that_says_nothing_of_its_results(self):
        self.opened = RunFolder(self.path.with_name("other"))
        self.addCleanup(self.opened.close)
        with self.assertRaisesRegex(AssertionError, "stage trace runs before the folder is claimed"):
            self.stage()
