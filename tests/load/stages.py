"""Every stage of the way from a corpus to a measured policy, as the commands that a user would start, on one corpus."""

import json
import os
import pathlib
from collections.abc import Iterator

from mlgo.run.run_folder import TIMINGS_NAME
from tests.end_to_end import command
from tests.load import program
from tests.load.program import Cost

_EVICTION = "--problem=regalloc_eviction"
_CLONING = "--gin_bindings=BcConfig.epochs=2"
#: What the time of a run's stages is called.
_STAGES = {
    "optimised/train": "optimised training corpus",
    "trace/train": "trace of it",
    "vocabulary": "vocabulary",
    "warm_start": "warm start, 2 epochs",
    "learning": "one iteration, two validations",
    "held_out/policy": "policy on the held-out corpus",
}


class Stages:
    """Runs the commands on the corpus `folder`/corpus, with everything they write below `folder`.

    Args: clang: a development clang, with its compile server beside it.
    """

    def __init__(self, folder: pathlib.Path, clang: pathlib.Path):
        self._folder, self._clang = folder, f"--clang={clang}"

    def costs(self) -> Iterator[tuple[str, Cost | float]]:
        """What a stage is called, and its cost; of a stage inside a training run, the seconds."""
        parts, trace = self._path("parts"), self._path("trace")
        corpus = f"--corpus={self._path('corpus')}"
        yield "`corpus_info`", program.run("mlgo.corpus_info", corpus)
        yield "`split_corpus`", program.run("mlgo.split_corpus", corpus, f"--output_dir={parts}")
        yield "`combine_training_corpus`", program.run("mlgo.combine_training_corpus", f"--root_dir={parts}")
        yield (
            "`generate_default_trace`",
            program.run("mlgo.generate_default_trace", _EVICTION, corpus, self._clang, f"--output_dir={trace}"),
        )
        of_trace = f"--trace={trace / 'trace' / 'default'}"
        yield (
            "`sparse_bucket_generator`",
            program.run("mlgo.sparse_bucket_generator", of_trace, f"--output_dir={self._path('vocabulary')}"),
        )
        yield (
            "`train_bc`, 2 epochs",
            program.run("mlgo.train_bc", of_trace, _CLONING, f"--output_dir={self._path('clone')}"),
        )
        run = self._path("run")
        yield "`train_regalloc`, 1 iteration", program.run("mlgo.train_regalloc", *self._training(run))
        for stage, seconds in json.loads((run / TIMINGS_NAME).read_bytes()).items():
            if stage in _STAGES:
                yield f"– {_STAGES[stage]}", float(seconds)
        yield "the same command, nothing left to do", program.run("mlgo.train_regalloc", *self._training(run))
        yield (
            "`evaluate` on the held-out part",
            program.run(
                "mlgo.evaluate",
                _EVICTION,
                self._clang,
                f"--policy={run / 'policy'}",
                f"--corpus={parts / 'held_out'}",
                f"--output_dir={self._path('evaluation')}",
            ),
        )
        yield "`report`", program.run("mlgo.report", str(run), f"--output={self._path('report.html')}")

    def interrupted(self, kills: int, seconds: float) -> tuple[int, list[str]]:
        """(how often a second training run was killed and resumed, the files in which it differs from the first).

        Args: seconds: what the first run took.
        """
        run = self._path("killed")
        flags = self._training(run)
        done = program.kill_at_random("mlgo.train_regalloc", flags, kills, seconds)
        program.run("mlgo.train_regalloc", *flags)
        return done, command.differing(self._path("run"), run)

    def files_and_bytes(self) -> tuple[int, int]:
        """Of the training run's folder."""
        sizes = [
            os.path.getsize(os.path.join(folder, name))
            for folder, _, names in os.walk(self._path("run"))
            for name in names
        ]
        return len(sizes), sum(sizes)

    def _path(self, name: str) -> pathlib.Path:
        return self._folder / name

    def _training(self, output: pathlib.Path) -> list[str]:
        return [
            f"--train_corpus={self._path('parts') / 'train'}",
            f"--held_out_corpus={self._path('parts') / 'held_out'}",
            f"--output_dir={output}",
            self._clang,
            "--iterations=1",
            "--cache_dir=",
            _CLONING,
        ]
