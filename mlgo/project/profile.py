"""A profile of what runs of a program execute, with which clang compiles it again."""

from __future__ import annotations

import hashlib
import os
import pathlib
import tempfile

from mlgo.project import steps
from mlgo.project.compiler import Compiler, quoted
from mlgo.project.counting import Runs
from mlgo.run.exit_codes import RunError


class Profiler:
    """Makes a profile of an instrumented program.

    Args: is_judged: whether the same runs are counted. folder: the profile stays there, named by its digest.
    """

    def __init__(self, runs: Runs, is_judged: bool, compiler: Compiler, folder: pathlib.Path):
        self._runs, self._compiler, self._folder = runs, compiler, folder
        text = "The profile is of the runs that are counted: --profile_run= takes others, as your users' runs are."
        self.explanation = text if is_judged else "The profile is of other runs than those that are counted."

    def profile_of(self, image: pathlib.Path) -> pathlib.Path:
        """Runs the program; the merged profile. Raises: RunError: a run fails or writes no profile."""
        self._folder.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=self._folder, prefix=".compile.") as folder:
            # All processes of a program add to one file.
            self._runs.execute(image, {"LLVM_PROFILE_FILE": f"{folder}/%m.profraw"})
            written = sorted(map(str, pathlib.Path(folder).glob("*.profraw")))
            if not written:
                wrong = "writes no profile: it does not end by itself, or runs another program"
                raise RunError("the run", wrong, "End it by exit")
            merged = pathlib.Path(folder, "merged")
            command = [self._compiler.tool("llvm-profdata"), "merge", "--num-threads=1", "-o", str(merged), *written]
            ended = steps.run(command, folder)
            if ended.code:
                raise RunError("merging the profile", ended.reason, "This row is left out")
            target = self._folder / f"{hashlib.sha256(merged.read_bytes()).hexdigest()}.profdata"
            os.replace(merged, target)
            return target


def profile_option(path: str) -> str:
    """The line of a configuration file with which clang uses the profile at `path`."""
    return quoted(f"-fprofile-use={path}")
