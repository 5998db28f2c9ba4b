"""Turns a hand-written `global_command_override` for clang's driver into the cc1 command that the driver makes of it.

The driver is asked with -###: it prints the command and runs nothing. It sees an empty folder, no configuration file,
and only options that mlgo/corpus/driver_options.py lets through.
"""

import os
import pathlib
import subprocess
import tempfile
from collections.abc import Sequence

from mlgo.corpus import front_end
from mlgo.corpus.command import CommandError, CompileCommand, check_length
from mlgo.corpus.command_changes import CommandChanges
from mlgo.corpus.corpus import Corpus, CorpusError
from mlgo.corpus.description import UNSPECIFIED_OVERRIDE
from mlgo.corpus.driver_options import driver_options, is_for_driver
from mlgo.corpus.options.table import chosen_table
from mlgo.run.exit_codes import RunError

_INPUT = "module.bc"
_SECONDS = 60
#: Variables that clang needs to start. Others, such as CCC_OVERRIDE_OPTIONS, would change the command.
_ENVIRONMENT = ("PATH", "LD_LIBRARY_PATH", "TMPDIR")
_REMEDY = "Write the options of the compile, or the cc1 command, beginning with -cc1"


def with_usable_commands(corpus: Corpus, clang: pathlib.Path, changes: CommandChanges) -> Corpus:
    """`corpus` with commands for cc1, as `changes` change them. Raises: CorpusError: see `with_cc1_override`."""
    return with_cc1_override(corpus, clang).changed(changes)


def with_cc1_override(corpus: Corpus, clang: pathlib.Path) -> Corpus:
    """`corpus` with a cc1 command where it has an override for the driver; else `corpus`.

    Raises: CorpusError: the override has an option that may do more than change code, or the driver rejects it.
    """
    override = corpus.command_override
    if override is None or override == UNSPECIFIED_OVERRIDE or not is_for_driver(override):
        return corpus
    try:
        return corpus.with_override(cc1_command(override, clang, corpus.allowed_options))
    except RunError as error:
        raise CorpusError(f"{error.subject} of corpus {corpus.path}", error.wrong, error.remedy) from error


def cc1_command(override: Sequence[str], clang: pathlib.Path, allowed: Sequence[str] = ()) -> tuple[str, ...]:
    """The cc1 command, beginning with -cc1 and without a path of this machine, that `clang` makes of `override`.

    Args: allowed: names of options that are kept although they may do more than change code.
    Raises: RunError: see `with_cc1_override`.
    """
    given = driver_options(override)
    check_length(override, "the global_command_override")
    shown = _asked(clang, given.for_driver)
    try:
        cc1 = front_end.recorded_command(front_end.front_end_command(shown, chosen_table().major))
    except RunError as error:
        raise _unusable(error.wrong) from error
    return ("-cc1", *CompileCommand([*cc1, *given.for_cc1], allowed).portable)


def _asked(clang: pathlib.Path, options: Sequence[str]) -> str:
    """What `clang -###` prints."""
    command = [os.path.abspath(clang), "--no-default-config", "-###", *options, "-c", "-x", "ir", _INPUT, "-o", "a.o"]
    environment = {name: os.environ[name] for name in _ENVIRONMENT if name in os.environ} | {"LC_ALL": "C"}
    with tempfile.TemporaryDirectory(prefix="mlgo-driver-") as folder:
        pathlib.Path(folder, _INPUT).touch()
        try:
            done = subprocess.run(
                command,
                cwd=folder,
                env=environment,
                stdin=subprocess.DEVNULL,
                capture_output=True,
                text=True,
                errors="replace",
                check=False,
                timeout=_SECONDS,
            )
        except (OSError, subprocess.TimeoutExpired) as error:
            raise RunError(f"compiler {clang}", f"cannot be asked for a command: {error}", "Check --clang") from error
    if done.returncode:
        errors = [line for line in done.stderr.splitlines() if "error:" in line]
        raise _unusable(errors[0].strip() if errors else f"the driver ends with status {done.returncode}")
    return done.stderr


def _unusable(wrong: str) -> CommandError:
    return CommandError("the global_command_override", f"is no compile for clang's driver ({wrong})", _REMEDY)
