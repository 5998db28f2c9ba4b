"""docs/add-an-algorithm.md alone suffices: its files, its line and its command train on a copy of the workspace."""

import json
import pathlib
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
import unittest

from mlgo.run import locate
from tests.architecture import edges
from tests.end_to_end import command
from tests.end_to_end.copied_sources import COMMAND, copy_sources_of_page

NAME = "random_search"
_LINE = re.compile(r"^One line in `(\w+)` of `([^`]+)`:\n\n    (    .*\n)", re.MULTILINE)


class AddAnAlgorithmTest(unittest.TestCase):
    def setUp(self):
        self.folder = pathlib.Path(self.enterContext(tempfile.TemporaryDirectory()))
        self.page = locate.runfile("docs/add-an-algorithm.md").read_text(encoding="utf-8")
        self.workspace = self.folder / "workspace"
        copy_sources_of_page(self.workspace, self.page)
        ((table, name, line),) = _LINE.findall(self.page)
        path = self.workspace / name
        before, after = path.read_text(encoding="utf-8").split(f"{table} = (\n")
        path.write_text(f"{before}{table} = (\n{line}{after}", encoding="utf-8")
        self.path = [str(self.workspace), *sys.path]

    def train(self, flags: list[str], *more: str) -> tuple[int, str]:
        """Runs the command of the page, with paths of this test in place of the page's."""
        ((program, given),) = COMMAND.findall(self.page)
        kept = [word for word in shlex.split(given.replace("\\\n", "")) if not word.startswith(("--train", "--output"))]
        words = [*kept, *flags, *more, f"--output_dir={self.folder / 'out'}"]
        return command.Command(words, program, self.path).end()

    def test_the_page_is_enough_to_train_and_resume(self):
        flags = command.fake_inputs(self.folder, milliseconds=1)
        code, said = self.train(flags, *command.TINY)
        self.assertEqual(code, 0, said)
        record = json.loads((self.folder / "out/policy/policy.json").read_bytes())
        self.assertEqual(record["training"]["configuration"][NAME], {"candidates": 4, "sigma": 0.1})
        lines = (self.folder / "out/metrics.jsonl").read_text(encoding="utf-8").splitlines()
        found = [figures for figures in map(json.loads, lines) if figures["kind"] == "iteration"]
        self.assertEqual([(figures["iteration"], figures["compiles"]) for figures in found], [(0, 10), (1, 10)])
        self.assertIn("best_improvement", found[0])
        before = command.outputs(self.folder / "out")
        shutil.rmtree(self.folder / "out" / "learning")
        code, said = self.train(flags, *command.TINY)
        self.assertEqual(code, 0, said)
        self.assertEqual(command.outputs(self.folder / "out"), before)

    def test_its_test_passes(self):
        module = f"mlgo.learning.algorithms.{NAME}.learner_test"
        start = f"import sys, unittest; sys.path[:] = {self.path!r}; unittest.main({module!r}, argv=['learner_test'])"
        said = subprocess.run([sys.executable, "-c", start], check=True, capture_output=True, encoding="utf-8").stderr
        self.assertIn("Ran 2 tests", said)

    def test_bazel_finds_the_package(self):
        targets = edges.python_targets(self.workspace, "mlgo/learning/algorithms/BUILD.bazel")
        (every,) = (target for target in targets if target.label == "//mlgo/learning/algorithms:algorithms")
        self.assertIn(f"//mlgo/learning/algorithms/{NAME}:{NAME}", every.deps)


if __name__ == "__main__":
    unittest.main()
