import datetime
import json
import pathlib
import subprocess
import tempfile
import unittest

from mlgo.run.exit_codes import RunError
from models.exam import look

NOW = datetime.datetime(2026, 11, 26, 20, tzinfo=datetime.UTC)


def looker(policy="1" * 64):
    return look.Looker("inlining_for_size", policy, {"development/clang": "2" * 64}, "3" * 40)


class FakeEvaluate:
    """Stands for //mlgo:evaluate. Attributes: fails: exit code of the next runs; trained: what it measures."""

    def __init__(self):
        self.runs, self.fails, self.trained = [], 0, 90

    def __call__(self, command, flags, output):
        self.runs.append((command, tuple(flags), output.exists()))
        output.mkdir(parents=True, exist_ok=True)
        if self.fails:
            raise SystemExit(self.fails)
        (output / "result.json").write_text(json.dumps({"trained": self.trained}))
        (output / "summary.md").write_text(f"{flags}")


class LookTest(unittest.TestCase):
    def setUp(self):
        scratch = tempfile.TemporaryDirectory()
        self.addCleanup(scratch.cleanup)
        self.workspace = pathlib.Path(scratch.name)
        self.folder = self.workspace / "models" / "exam"
        self.evaluate = FakeEvaluate()
        self.measurements = [
            look.Measurement("inlining_for_size", "mlgo/evaluate", ["--x"]),
            look.Measurement("inlining_for_size_icf", "mlgo/evaluate", ["--x", "--icf"]),
        ]

    def look(self, who=None, again=None):
        look.look(who or looker(), self.measurements, self.workspace, again, self.evaluate, lambda: NOW)

    def log(self):
        return [json.loads(line) for line in (self.folder / "looks.jsonl").read_text().splitlines()]

    def test_results_and_log_of_a_first_look(self):
        self.look()
        self.assertEqual([flags for _, flags, _ in self.evaluate.runs], [("--x",), ("--x", "--icf")])
        written = sorted(str(path.relative_to(self.folder)) for path in self.folder.rglob("*") if path.is_file())
        self.assertEqual(
            written,
            [
                "inlining_for_size/result.json",
                "inlining_for_size/summary.md",
                "inlining_for_size_icf/result.json",
                "inlining_for_size_icf/summary.md",
                "looks.jsonl",
            ],
        )
        self.assertEqual((self.folder / "inlining_for_size/result.json").read_text(), '{"trained": 90}')
        began, ended = self.log()
        results = ended.pop("results")
        self.assertEqual(set(results), {"inlining_for_size_icf/result.json", "inlining_for_size/result.json"})
        self.assertEqual(
            began,
            {
                "commit": "3" * 40,
                "compilers": {"development/clang": "2" * 64},
                "date": "2026-11-26T20:00:00Z",
                "event": "began",
                "exam": "inlining_for_size",
                "policy": "1" * 64,
            },
        )
        self.assertEqual(ended, began | {"event": "ended"})

    def test_second_look_is_refused_and_names_the_result(self):
        self.look()
        with self.assertRaisesRegex(
            RunError, "on 2026-11-26.* models/exam/inlining_for_size/result.json.*--again=REASON"
        ):
            self.look()
        self.assertEqual(len(self.evaluate.runs), 2)
        self.assertEqual(len(self.log()), 2)

    def test_second_look_with_a_reason_starts_afresh_and_is_logged(self):
        self.look()
        self.look(again="the linker was another one")
        self.assertEqual([found for _, _, found in self.evaluate.runs], [False] * 4)
        self.assertEqual(
            [(line["event"], line.get("again")) for line in self.log()[2:]],
            [("began", "the linker was another one"), ("ended", "the linker was another one")],
        )

    def test_another_policy_may_be_looked_at(self):
        self.look()
        self.evaluate.trained = 80
        self.look(looker("4" * 64))
        self.assertEqual([line["policy"][0] for line in self.log()], ["1", "1", "4", "4"])
        self.assertEqual((self.folder / "inlining_for_size/result.json").read_text(), '{"trained": 80}')
        # Its result has taken the place of the first one's.
        with self.assertRaisesRegex(RunError, "result.json with sha256 .*git log -- models/exam/inlining_for_size"):
            self.look()

    def test_another_exam_may_look_at_the_policy(self):
        self.look()
        look.look(look.Looker("programs", "1" * 64, {}, "5"), [], self.workspace, None, self.evaluate, lambda: NOW)
        self.assertEqual([line["exam"] for line in self.log()][2:], ["programs", "programs"])

    def test_interrupted_look_continues(self):
        self.evaluate.fails = 130
        with self.assertRaises(SystemExit):
            self.look()
        self.assertEqual([path.name for path in self.folder.iterdir()], ["looks.jsonl"])
        self.evaluate.fails = 0
        self.look()
        self.assertEqual([found for _, _, found in self.evaluate.runs], [False, True, False])
        self.assertEqual([line["event"] for line in self.log()], ["began", "began", "ended"])

    def test_interrupted_repetition_continues(self):
        self.look()
        self.evaluate.fails = 130
        with self.assertRaises(SystemExit):
            self.look(again="why")
        self.evaluate.fails = 0
        self.look(again="why")
        self.assertEqual([found for _, _, found in self.evaluate.runs[2:]], [False, True, False])

    def test_unfinished_line_of_the_log_is_dropped(self):
        self.look()
        log = self.folder / "looks.jsonl"
        log.write_bytes(log.read_bytes() + b'{"event"')
        self.look(looker("4" * 64))
        self.assertEqual(len(self.log()), 4)

    def test_damaged_log_is_refused(self):
        self.folder.mkdir(parents=True)
        (self.folder / "looks.jsonl").write_text("no\n")
        with self.assertRaisesRegex(RunError, "the log of looks.*line 1.*Restore it from git"):
            self.look()


class CommitTest(unittest.TestCase):
    def setUp(self):
        scratch = tempfile.TemporaryDirectory()
        self.addCleanup(scratch.cleanup)
        self.root = pathlib.Path(scratch.name)

    def git(self, *arguments):
        user = ["-c", "user.name=a", "-c", "user.email=a@b"]
        subprocess.run(["git", "-C", self.root, *user, *arguments], check=True, capture_output=True)

    def test_changes_count_but_those_of_looks(self):
        log, other = self.root / "models/exam/looks.jsonl", self.root / "models/exam/exam.bzl"
        result = self.root / "models/exam/x/result.json"
        result.parent.mkdir(parents=True)
        for path in (log, other, result):
            path.write_text("1")
        self.git("init")
        self.git("add", ".")
        self.git("commit", "-m", "a")
        commit = look.commit_of(self.root)
        self.assertRegex(commit, "^[0-9a-f]{40}$")
        log.write_text("2")
        result.write_text("2")
        self.assertEqual(look.commit_of(self.root), commit)
        other.write_text("2")
        self.assertEqual(look.commit_of(self.root), commit + "+changes")

    def test_no_checkout_is_refused(self):
        with self.assertRaisesRegex(RunError, "Look from a git checkout"):
            look.commit_of(self.root / "none")


if __name__ == "__main__":
    unittest.main()
