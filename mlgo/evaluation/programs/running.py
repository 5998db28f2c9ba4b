"""Runs a built program and takes digests of its output, by which builds are compared."""

import hashlib
import os
import pathlib
import shutil
import tempfile
from collections.abc import Iterator, Mapping, Sequence

from mlgo.evaluation.programs.program import Program, ProgramRun
from mlgo.run import child

#: Time limit of one run, seconds; Cachegrind slows it down fifty times.
_SECONDS = 1800
_PROGRAM = "program"


class RunFailure(Exception):
    """A program fails or exceeds its time limit."""


def run_program(
    program: Program,
    image: pathlib.Path,
    prefix: Sequence[str | os.PathLike[str]] = (),
    environment: Mapping[str, str] | None = None,
) -> Iterator[tuple[ProgramRun, child.Ended, str]]:
    """Each run of `program` in one new folder, where the image is `program`; its result, and its output's digest.

    Args: prefix: words before the program's command, such as valgrind's; relative paths in them are in that folder.
    Raises: RunFailure: a run fails, or does not write its outputs.
    """
    with tempfile.TemporaryDirectory(prefix="mlgo-run-") as scratch:
        folder = pathlib.Path(scratch)
        shutil.copy(image, folder / _PROGRAM)
        (folder / _PROGRAM).chmod(0o755)
        program.write_inputs(folder)
        for run in program.runs:
            what = f"run {run.name} of {program.name}"
            stdin = folder / run.stdin if run.stdin else None
            try:
                ended = child.run([*prefix, f"./{_PROGRAM}", *run.arguments], folder, _SECONDS, stdin, environment)
            except child.NotRun as error:
                raise RunFailure(f"{what}: {error}") from error
            if ended.exit_code:
                raise RunFailure(f"{what}: exit code {ended.exit_code}: {ended.last_words()}")
            digest = hashlib.sha256(ended.output)
            for name in run.outputs:
                if not (folder / name).is_file():
                    raise RunFailure(f"{what}: wrote no {name}")
                digest.update(f"\0{name}\0".encode() + (folder / name).read_bytes())
            yield run, ended, digest.hexdigest()


def output_digests(program: Program, image: pathlib.Path, emulator: Sequence[str] = ()) -> dict[str, str]:
    """Digest of the output, by run. Args: emulator: of its target, with its flags. Raises: RunFailure: a run fails."""
    return {run.name: digest for run, _, digest in run_program(program, image, emulator)}
