"""Starts a training command as a program of its own, for tests that kill it or look at its exit code."""

import pathlib
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Sequence

from mlgo.compiler.testing import fake_clang
from mlgo.problems.regalloc_eviction.problem import PROBLEM
from tests.end_to_end import forked_command

#: Commands that import TensorFlow, unless they refuse their flags.
_LEARNING = ("evaluate", "explain", "train_inlining", "train_locally", "train_regalloc")

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


class Command:
    """A started command; `end` waits for it."""

    #: Environment variables of the first command of this process that learns.
    _first_environment: dict[str, str] | None = None

    def __init__(
        self,
        flags: Sequence[str],
        program: str = "train_regalloc",
        path: Sequence[str] | None = None,
        folder: pathlib.Path | None = None,
    ):
        """Args:
        path: where Python looks for modules; None: where this process does.
        folder: where `bazel run` was given, for flags that are relative paths; None: such a flag is an error.
        """
        # A command may name files, whose names are any bytes.
        self._said = tempfile.TemporaryFile("w+", encoding="utf-8", errors="surrogateescape")
        # The first one starts as users start it. Its hash seed is not that of the others, which are compared with it.
        environment = forked_command.environment()
        variables = {} if folder is None else {"BUILD_WORKING_DIRECTORY": str(folder)}
        started = (f"mlgo.{program}", flags, sys.path if path is None else path, variables, self._said)
        self._process: subprocess.Popen[bytes] | forked_command.ForkedCommand
        if program in _LEARNING and environment == Command._first_environment:
            self._process = forked_command.start(*started)
        else:
            if program in _LEARNING and Command._first_environment is None:
                Command._first_environment = environment
            self._process = forked_command.start_alone(*started)

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


def run(*flags: str, program: str = "train_regalloc", folder: pathlib.Path | None = None) -> tuple[int, str]:
    """Runs the command to its end; returns exit code and everything it said."""
    return Command(flags, program, folder=folder).end()


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
