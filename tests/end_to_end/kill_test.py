"""kill -9 at random points of a run, each time gone on with: the bytes of a run that was left alone.

A finished run that grows has all its old results or all its new ones at each of these points.

Every point is one at which a file is flushed, renamed or removed, for between two of these nothing changes on disk. The
run is one by evolution strategies from random weights, which needs TensorFlow to convert and to export policies only;
this process has imported it before it forks the processes that are killed.
"""

import os
import pathlib
import random
import shutil
import signal
import tempfile
import unittest

from mlgo.compiler.testing import fake_clang
from mlgo.learning.algorithms.es.algorithm import EsConfig
from mlgo.learning.cloning_config import BcConfig
from mlgo.learning.network import NetworkConfig
from mlgo.policy import collection, saved_model
from mlgo.problems.regalloc_eviction.problem import PROBLEM
from mlgo.trace.vocabulary import VocabularyConfig
from mlgo.training import growth
from mlgo.training.run_inputs import RunInputs
from mlgo.training.settings import Configurations, RunSettings
from mlgo.training.training_run import TrainingRun
from tests.end_to_end import command

_KILLS = 50
#: How far a process gets before it is killed, in changes of the disk; a whole run has about 500.
_FARTHEST = 90
_IMPORTED = (collection, saved_model)  # Before the first fork.

#: Files that a run leaves for users; they are of one number of iterations.
_RESULTS = (
    "configuration.json",
    "held_out/functions.csv",
    "held_out/result.json",
    "learning_curve.svg",
    "metrics.jsonl",
    "policy/policy.json",
    "policy/saved_model.pb",
    "policy/weights.npz",
)


def _configurations(iterations: int, validation_interval: int) -> Configurations:
    return Configurations(
        run=RunSettings(
            algorithm="es",
            warm_start="none",
            iterations=iterations,
            modules_per_iteration=2,
            validation_modules=1,
            validation_interval=validation_interval,
        ),
        vocabulary=VocabularyConfig(quantiles=50),
        network=NetworkConfig(fc_layer_params=(4,)),
        behavioural_cloning=BcConfig(),
        learner=EsConfig(pairs=1),
    )


class KillTest(unittest.TestCase):
    def setUp(self):
        self.folder = pathlib.Path(self.enterContext(tempfile.TemporaryDirectory()))
        for name in ("bin", "train", "held_out"):
            (self.folder / name).mkdir()
        self.clang = fake_clang.install(self.folder / "bin", PROBLEM)
        modules = {f"m{index}": fake_clang.FakeModule.bitcode({f"f{index}": 4, f"g{index}": 3}) for index in range(4)}
        fake_clang.write_corpus(self.folder / "train", modules)
        fake_clang.write_corpus(self.folder / "held_out", {"h": fake_clang.FakeModule.bitcode({"h": 5})})

    def run_until(
        self, output: pathlib.Path, changes: int | None, iterations: int = 3, validation_interval: int = 1
    ) -> int:
        """Runs in a process of its own that kills itself at the given change of the disk; returns its wait status."""
        child = os.fork()
        if child:
            return os.waitpid(child, 0)[1]
        code = 70
        try:
            with open(self.folder / "said", "w", encoding="utf-8") as said:
                os.dup2(said.fileno(), 1)
                os.dup2(said.fileno(), 2)
            if changes is not None:
                _kill_at(changes)
            inputs = RunInputs(
                pathlib.Path(self.clang), self.folder / "train", self.folder / "held_out", None, None, output
            )
            TrainingRun(inputs, _configurations(iterations, validation_interval), workers=2).run()
            code = 0
        finally:
            os._exit(code)  # Not the test's own ending.

    def test_killed_at_random_points(self):
        alone = self.folder / "alone"
        self.assertEqual(self.run_until(alone, None), 0, (self.folder / "said").read_text())
        points = random.Random(5)
        kills = ended = 0
        while kills < _KILLS:
            killed = self.folder / f"killed{ended}"
            while (status := self.run_until(killed, points.randint(1, _FARTHEST))) != 0:
                self.assertEqual(status, signal.SIGKILL, (self.folder / "said").read_text())
                kills += 1
            self.assertEqual(command.differing(alone, killed), [], f"after {kills} kills")
            shutil.rmtree(killed)
            ended += 1
        self.assertGreater(ended, 1)

    def said(self) -> str:
        return (self.folder / "said").read_text()

    def grow(self, output: pathlib.Path, changes: int | None) -> int:
        # After three iterations with this interval, a run validates weights that a longer one does not.
        return self.run_until(output, changes, iterations=5, validation_interval=2)

    def test_a_finished_run_grows_and_is_killed(self):
        old, new, grown = (self.folder / name for name in ("old", "new", "grown"))
        self.assertEqual(self.run_until(old, None, 3, 2), 0, self.said())
        self.assertEqual(self.grow(new, None), 0, self.said())
        shutil.copytree(old, grown)
        self.assertEqual(self.grow(grown, None), 0, self.said())
        self.assertEqual(command.differing(new, grown), [])
        allowed = [_results(old), _results(new)]
        points = random.Random(7)
        while True:
            status = self.grow(old, points.randint(1, _FARTHEST))
            if not (old / growth.EXTENDED).exists():
                self.assertIn(_results(old), allowed)
            if status == 0:
                break
            self.assertEqual(status, signal.SIGKILL, self.said())
        self.assertEqual(command.differing(new, old), [])


def _results(folder: pathlib.Path) -> dict[str, bytes]:
    return {name: (folder / name).read_bytes() for name in _RESULTS}


def _kill_at(changes: int) -> None:
    """This process dies before or after the given call of a function that changes the disk."""
    count = 0

    def counting(function, after: bool):
        def counted(*arguments, **named):
            nonlocal count
            count += 1
            if count == changes and not after:
                os.kill(os.getpid(), signal.SIGKILL)
            result = function(*arguments, **named)
            if count == changes:
                os.kill(os.getpid(), signal.SIGKILL)
            return result

        return counted

    for index, name in enumerate(("replace", "rename", "fsync", "unlink")):
        setattr(os, name, counting(getattr(os, name), after=bool(index % 2)))


if __name__ == "__main__":
    unittest.main()
