"""Starts a training command as a program of its own, for tests that kill it or look at its exit code."""

import os
import pathlib
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Sequence

from mlgo.compiler.testing import fake_clang
from mlgo.problems.regalloc_eviction.problem import PROBLEM

# The program gets this process's search path, so that it runs the same under Bazel and without.
_START = "import sys, runpy; sys.path[:] = {path!r}; runpy.run_module('mlgo.{program}', run_name='__main__')"

#: Flags of a run that takes seconds.
TINY = (
    "--iterations=2",
    "--modules_per_iteration=2",
    "--validation_modules=2",
    "--gin_bindings=RunSettings.validation_interval=1",
    "--gin_bindings=BcConfig.epochs=2",
    "--gin_bindings=VocabularyConfig.quantiles=100",
)

#: Files that two equal runs may differ in: how long stages took, and event files named after time and process.
INCOMPARABLE = ("timings.json", "seconds.jsonl", "tensorboard/", ".lock")


def words(flags: Sequence[str], program: str = "train_regalloc", path: Sequence[str] | None = None) -> list[str]:
    """The command as words. Args: path: where Python looks for modules; None: where this process does."""
    return [sys.executable, "-c", _START.format(path=list(path or sys.path), program=program), *flags]


def environment() -> dict[str, str]:
    """The environment variables of a command: this process's, without those of `bazel run`."""
    return {key: value for key, value in os.environ.items() if not key.startswith("BUILD_")}


class Command:
    """A started command; `end` waits for it."""

    def __init__(self, flags: Sequence[str], program: str = "train_regalloc", path: Sequence[str] | None = None):
        """Args: path: where Python looks for modules; None: where this process does."""
        # A command may name files, whose names are any bytes.
        self._said = tempfile.TemporaryFile("w+", encoding="utf-8", errors="surrogateescape")
        self._process = subprocess.Popen(
            words(flags, program, path),
            stdout=self._said,
            stderr=subprocess.STDOUT,
            stdin=subprocess.DEVNULL,
            env=environment(),
        )

    def end(self) -> tuple[int, str]:
        """Exit code (minus the signal that ended it) and everything it said."""
        code = self._process.wait()
        self._said.seek(0)
        text = self._said.read()
        self._said.close()
        return code, text

    def wait_until(self, happened: Callable[[], bool]) -> None:
        """Waits for `happened()`. Raises: AssertionError: the command ended first."""
        while not happened():
            if self._process.poll() is not None:
                raise AssertionError(f"the command ended too early: {self.end()}")
            time.sleep(0.001)

    def kill_when(self, happened: Callable[[], bool], number: int = signal.SIGKILL) -> tuple[int, str]:
        """Sends a signal as soon as `happened()`; returns as `end`. Raises: as `wait_until`."""
        self.wait_until(happened)
        self._process.send_signal(number)
        return self.end()


def run(*flags: str, program: str = "train_regalloc") -> tuple[int, str]:
    """Runs the command to its end; returns exit code and everything it said."""
    return Command(flags, program).end()


def fake_inputs(folder: pathlib.Path, milliseconds: int = 20) -> list[str]:
    """A fake compiler and two fake corpora below `folder`, as flags; each compile takes `milliseconds` CPU time."""
    for name in ("bin", "train", "held_out"):
        (folder / name).mkdir(parents=True)
    clang = fake_clang.install(folder / "bin", PROBLEM)

    def modules(prefix: str, count: int, decisions: int) -> dict[str, bytes]:
        functions = [{f"f{index}": decisions + index, f"g{index}": 3} for index in range(count)]
        return {
            f"{prefix}/m{index}.cpp": fake_clang.FakeModule.bitcode(functions[index], milliseconds=milliseconds)
            for index in range(count)
        }

    fake_clang.write_corpus(folder / "train", modules("train", 8, decisions=5))
    fake_clang.write_corpus(folder / "held_out", modules("held", 3, decisions=6))
    return [f"--clang={clang}", f"--train_corpus={folder / 'train'}", f"--held_out_corpus={folder / 'held_out'}"]


def outputs(folder: pathlib.Path) -> dict[str, bytes]:
    """Every comparable file of a run, by relative path."""
    found = {}
    for path in sorted(folder.rglob("*")):
        name = str(path.relative_to(folder))
        if path.is_file() and not name.startswith(INCOMPARABLE):
            found[name] = path.read_bytes()
    return found


def differing(first: pathlib.Path, second: pathlib.Path) -> list[str]:
    """Names of the files that two runs do not have in common, byte for byte."""
    one, other = outputs(first), outputs(second)
    return sorted(name for name in one.keys() | other.keys() if one.get(name) != other.get(name))
