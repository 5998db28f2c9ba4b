"""Lock, identity and timings of a run folder."""

import pathlib
import tempfile
import unittest

from mlgo.run import files
from mlgo.run.exit_codes import RunError
from mlgo.run.run_folder import TIMINGS_NAME, RunFolder


class RunFolderTest(unittest.TestCase):
    def setUp(self):
        scratch = tempfile.TemporaryDirectory()
        self.addCleanup(scratch.cleanup)
        self.path = pathlib.Path(scratch.name, "run")

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
        self.assertFalse(folder.claim({"seed": 1, "corpus": {"digest": "a", "sizes": (1, 2)}}))
        self.assertFalse(folder.work.exists())
        self.assertTrue(folder.claim({"seed": 1, "corpus": {"digest": "a", "sizes": [1, 2]}}))
        with self.assertRaisesRegex(
            RunError, r"another configuration:\n  corpus.digest: was 'a', now 'b'\n  seed: was 1"
        ):
            folder.claim({"seed": None, "corpus": {"digest": "b", "sizes": [1, 2]}})

    def test_a_stage_runs_once_and_its_seconds_are_kept(self):
        folder = self.open()
        folder.claim({})
        runs = []
        for _ in range(2):
            done = folder.stage("trace", {}, {}, lambda path: runs.append(path) or {"modules": 3})
        self.assertEqual((runs, done.summary), ([self.path / "trace"], {"modules": 3}))
        files.write_json_atomically(self.path / TIMINGS_NAME, {"trace": 5.0})
        folder.claim({})
        self.assertEqual(folder.seconds, {"trace": 5.0})

    def test_timings_of_other_types_are_an_error(self):
        folder = self.open()
        for content, message in (([], "is not a JSON object"), ({"trace": "long"}, "'trace' that is not a number")):
            files.write_json_atomically(self.path / TIMINGS_NAME, content)
            with self.assertRaisesRegex(RunError, f"timings .*{message}. Delete the file"):
                folder.claim({})

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
