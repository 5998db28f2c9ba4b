"""Runs that grow: what a longer run takes over, and that results are replaced by all of another run or by none."""

import os
import pathlib
import shutil
import tempfile
import unittest
from unittest import mock

from mlgo.run import files
from mlgo.run.exit_codes import RunError
from mlgo.training import growth

_CONFIGURATION = "configuration.json"


def _identity(iterations: int, seed: int = 1) -> dict:
    return {"configuration": {"run": {"iterations": iterations, "seed": seed}}, "versions": {"python": "3"}}


class GrowthTest(unittest.TestCase):
    def setUp(self):
        self.folder = pathlib.Path(self.enterContext(tempfile.TemporaryDirectory()), "run")

    def write_run(self, folder: pathlib.Path, iterations: int, finished: bool = True) -> None:
        """A run whose files hold their number of iterations."""
        files.write_json_atomically(folder / _CONFIGURATION, _identity(iterations))
        names = ["learning/latest.json", "seconds.jsonl", "trace/manifest.json"]
        if finished:
            names += ["learning/manifest.json", "export/saved_model.pb", "held_out/policy/manifest.json"]
            names += ["held_out/result.json", "metrics.jsonl", "learning_curve.svg", "policy/policy.json"]
        for name in names:
            files.write_atomically(folder / name, str(iterations).encode())

    def contents(self, folder: pathlib.Path) -> dict[str, bytes]:
        return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}

    def test_the_same_run_and_another_run_are_left_to_the_caller(self):
        self.assertEqual(growth.prepare(self.folder, _identity(3)), self.folder)
        self.write_run(self.folder, 3)
        before = self.contents(self.folder)
        for identity in (_identity(3), _identity(5, seed=2)):
            self.assertEqual(growth.prepare(self.folder, identity), self.folder)
        self.assertEqual(self.contents(self.folder), before)

    def test_fewer_iterations_are_refused(self):
        self.write_run(self.folder, 5)
        wrong = "--iterations=3: is fewer than the 5 of the run in .*cannot shrink. Give --iterations=5 or more"
        with self.assertRaisesRegex(RunError, wrong):
            growth.prepare(self.folder, _identity(3))

    def test_an_unfinished_run_takes_over_the_number(self):
        self.write_run(self.folder, 3, finished=False)
        self.assertEqual(growth.prepare(self.folder, _identity(5)), self.folder)
        self.assertEqual(files.read_json(self.folder / _CONFIGURATION, "", ""), _identity(5))

    def test_a_finished_run_keeps_its_results(self):
        self.write_run(self.folder, 3)
        before = self.contents(self.folder)
        extending = growth.prepare(self.folder, _identity(5))
        found = self.contents(self.folder)
        self.assertEqual({name: found[name] for name in before}, before)
        self.assertEqual(sorted(self.contents(extending)), [_CONFIGURATION, "learning/latest.json", "seconds.jsonl"])

    def test_an_interrupted_growth_continues_unless_it_is_longer(self):
        self.write_run(self.folder, 3)
        files.write_atomically(growth.prepare(self.folder, _identity(5)) / "learning" / "latest.json", b"4")
        for iterations, expected in ((5, b"4"), (9, b"4"), (6, b"3")):
            extending = growth.prepare(self.folder, _identity(iterations))
            self.assertEqual((extending / "learning" / "latest.json").read_bytes(), expected)
            self.assertEqual(files.read_json(extending / _CONFIGURATION, "", ""), _identity(iterations))

    def test_results_are_replaced_wherever_the_process_is_killed(self):
        self.write_run(self.folder, 3)
        self.write_run(growth.prepare(self.folder, _identity(5)), 5)
        shutil.rmtree(self.folder / growth.EXTENDING / "trace")
        before, points = self.contents(self.folder), 0
        while True:
            killed = self.folder.with_name(f"killed{points}")
            shutil.copytree(self.folder, killed)
            if not self.is_killed(killed, points):
                break
            if (killed / growth.EXTENDED).exists():
                with self.assertRaisesRegex(RunError, "was interrupted while its results were replaced"):
                    growth.check_replaced(killed)
            else:
                growth.check_replaced(killed)
                self.assertEqual(self.contents(killed), before)
            if (killed / growth.EXTENDING).exists():
                growth.finish(killed)
            self.assertEqual(growth.prepare(killed, _identity(5)), killed)
            self.check_is_new(killed)
            points += 1
        self.check_is_new(killed)
        self.assertGreater(points, 10)

    def check_is_new(self, folder: pathlib.Path) -> None:
        found = self.contents(folder)
        self.assertEqual(found.pop("trace/manifest.json"), b"3")
        self.assertEqual(found.pop(_CONFIGURATION), files.encode_json(_identity(5)))
        self.assertEqual(set(found.values()), {b"5"})
        self.assertEqual(sum(path.name.startswith((".", "grow")) for path in folder.iterdir()), 0)

    def is_killed(self, folder: pathlib.Path, renames: int) -> bool:
        """`growth.finish`, which ends before the rename of this number; whether there was one."""
        replace, allowed = os.replace, iter(range(renames))

        def rename(source, target):
            if next(allowed, None) is None:
                raise KeyboardInterrupt
            replace(source, target)

        with mock.patch.object(os, "replace", rename):
            try:
                growth.finish(folder)
            except KeyboardInterrupt:
                return True
        return False
