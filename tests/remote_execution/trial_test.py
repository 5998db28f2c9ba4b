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
