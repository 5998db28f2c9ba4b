"""Lock, identity and timings of a run folder."""

import pathlib
import tempfile
import unittest

from mlgo.run import files
from mlgo.run.exit_codes import RunError
from mlgo.run.run_folder import CONFIGURATION_NAME, TIMINGS_NAME, RunFolder

IDENTITY = {"code": {"score": "1"}}


class RunFolderTest(unittest.TestCase):
    def setUp(self):
        self.path = pathlib.Path(self.enterContext(tempfile.TemporaryDirectory()), "run")

    def open(self):
        folder = RunFolder(self.path)
        self.addCleanup(folder.close)
        return folder

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
        with self.assertRaisesRegex(
            RunError, r"another configuration:\n  corpus.digest: was 'a', now 'b'\n  seed: was 1"
        ):
            folder.claim({**IDENTITY, "seed": None, "corpus": {"digest": "b", "sizes": [1, 2]}})

    def test_a_run_may_add_to_what_grows_and_changes_nothing(self):
        folder, grows = self.open(), ("inputs", "inputs.corpora", "configuration.sides", "programs")
        first = {
            **IDENTITY,
            "inputs": {"corpora": {"a": "1"}},
            "configuration": {"sides": {"r": ["x"]}},
            "programs": ["x"],
        }
        more = {**first, "inputs": {"corpora": {"a": "1", "b": "2"}, "counter": "3"}, "programs": ["y", "x"]}
        more["configuration"] = {"sides": {"r": ["x"], "mine": []}}
        self.assertFalse(folder.claim(first, grows=grows))
        folder.stage("a", {}, {}, lambda path: {})
        with self.assertRaisesRegex(RunError, r"configuration.sides.mine: was None, now \[\]\n  inputs"):
            folder.claim(more)
        self.assertTrue(folder.claim(more, grows=grows))
        folder.stage("a", {}, {}, lambda path: self.fail("the stage runs again"))
        self.assertTrue(folder.claim(more))  # It is recorded.
        for changed, message in (
            (
                {**more, "inputs": {"corpora": {"a": "4", "b": "2"}, "counter": "3"}},
                "inputs.corpora.a: was '1', now '4'",
            ),
            (first, "inputs.corpora.b: was '2', now None"),
            ({**more, "programs": ["y"]}, r"programs: was \['y', 'x'\], now \['y'\]"),
            ({**more, "configuration": {"sides": {"r": ["x", "y"], "mine": []}}}, r"sides.r: was \['x'\], now"),
            ({**more, "seed": 1}, "seed: was None, now 1"),
        ):
            with self.subTest(message), self.assertRaisesRegex(RunError, message):
                folder.claim(changed, grows=grows)

    def test_a_stage_runs_once_and_its_seconds_are_kept(self):
        folder = self.open()
        folder.claim(IDENTITY)
        runs: list[pathlib.Path] = []

        def work(path: pathlib.Path) -> dict[str, int]:
            runs.append(path)
            return {"modules": 3}

        for _ in range(2):
            done = folder.stage("trace", {}, {}, work)
        self.assertEqual((runs, done.summary), ([self.path / "trace"], {"modules": 3}))
        files.write_json_atomically(self.path / TIMINGS_NAME, {"trace": 5.0})
        folder.claim(IDENTITY)
        self.assertEqual(folder.seconds, {"trace": 5.0})

    def test_other_code_is_another_run(self):
        folder = self.open()
        folder.claim(IDENTITY)
        folder.stage("trace", {}, {}, lambda path: {})
        wrong = (
            r"holds results of another version of mlgo \(what differs: score\). Give another --output_dir, or delete"
        )
        with self.assertRaisesRegex(RunError, wrong):
            folder.claim({"code": {"score": "2"}})
        (self.path / CONFIGURATION_NAME).unlink()
        with self.assertRaisesRegex(RunError, "earlier version of mlgo, which does not say what they rest on"):
            folder.claim(IDENTITY)

    def test_code_is_an_input_of_every_stage(self):
        folder = self.open()
        folder.claim(IDENTITY)
        first = folder.stage("trace", {"corpus": "a"}, {}, lambda path: {})
        (self.path / CONFIGURATION_NAME).unlink()
        (self.path / "trace").rename(self.path / "kept")
        folder.claim({"code": {"score": "2"}})
        (self.path / "kept").rename(self.path / "trace")
        again = folder.stage("trace", {"corpus": "a"}, {}, lambda path: {"again": True})
        self.assertEqual((first.summary, again.summary), ({}, {"again": True}))
        self.assertNotEqual(first.inputs["code"], again.inputs["code"])

    def test_no_stage_runs_in_a_folder_that_says_nothing_of_its_results(self):
        with self.assertRaisesRegex(AssertionError, "stage trace runs before the folder is claimed"):
            self.open().stage("trace", {}, {}, lambda path: {})

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
        for number, (name, target) in enumerate(
            [("policy", "."), ("work", "."), ("trace/modules", "."), ("metrics.jsonl", "file"), (".lock", "lock")]
        ):
            path = self.path / str(number)
            with self.subTest(name):
                (path / name).parent.mkdir(parents=True)
                (path / name).symlink_to(outside / target)
                with self.assertRaisesRegex(RunError, "--output_dir=.*(leads out of it|symbolic links)"):
                    RunFolder(path)
                self.assertEqual(list(outside.iterdir()), [])

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


if __name__ == "__main__":
    unittest.main()
