import json
import pathlib
import tempfile
import unittest

from tests.remote_execution import trial


class EventsTest(unittest.TestCase):
    def setUp(self):
        self.events = pathlib.Path(self.enterContext(tempfile.TemporaryDirectory())) / "events.json"

    def test_ended_actions_are_counted_while_the_file_grows(self):
        self.assertEqual(trial.ended_actions(self.events), 0)
        self.events.write_text('{"id":{"started":{}}}\n{"id":{"actionCompleted":{"label":"//a"}}}\n', "utf-8")
        self.assertEqual(trial.ended_actions(self.events), 1)
        with self.events.open("a", encoding="utf-8") as file:
            file.write('{"id":{"actionCompleted":{"label":"//b"}}}\n{"id":{"actionComp')
        self.assertEqual(trial.ended_actions(self.events), 2)

    def test_where_actions_ran(self):
        runners = [{"name": "total", "count": 9}, {"name": "remote", "count": 6}]
        summary = {"id": {"buildMetrics": {}}, "buildMetrics": {"actionSummary": {"runnerCount": runners}}}
        self.events.write_text('{"id":{"started":{}}}\n' + json.dumps(summary) + "\n", "utf-8")
        self.assertEqual(trial.runners_of(self.events), {"total": 9, "remote": 6})
        self.events.write_text('{"id":{"started":{}}}\n', "utf-8")
        self.assertEqual(trial.runners_of(self.events), {})

    def test_what_is_said_of_a_build_on_the_farm(self):
        local = trial.Build({}, {}, cpu_seconds=100, wall_seconds=50)
        remote = trial.Build({}, {"remote": 79, "local": 3}, cpu_seconds=50, wall_seconds=60)
        kinds = {"bgd": 40.2, "idle": 0.1, "buildbox-worker": 99.6}
        lines = trial.FarmBuild(remote, 150, kinds, 2_345_000_000).lines("farm", local)
        self.assertEqual(lines[0], "farm: 50 CPU s of Bazel and its children, 60 s, actions: 79 remote, 3 local")
        said = "farm: 150 CPU s of the farm; in all 200 CPU s, 2.00 times the build here; 2,345 MB moved"
        self.assertEqual(lines[1], said)
        self.assertEqual(lines[2:4], ["  buildbox-worker: 100 CPU s", "  bgd: 40 CPU s"])
        self.assertEqual(lines[4:], ["  the rest, compiles above all: 10 CPU s"])

    def test_files_of_a_target_and_of_its_folders(self):
        root = self.events.parent
        (root / "corpus").mkdir()
        (root / "clang").write_text("c", "utf-8")
        (root / "corpus/a.bc").write_text("c", "utf-8")
        found = trial.files_of(root, ["clang", "corpus"])
        self.assertEqual(found.keys(), {"clang", "corpus/a.bc"})
        self.assertEqual(found["clang"], found["corpus/a.bc"])


if __name__ == "__main__":
    unittest.main()
