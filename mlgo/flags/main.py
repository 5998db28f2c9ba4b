"""How a command starts and ends: it parses flags, runs its main function, and exits with a documented code."""

import os
import sys
from collections.abc import Callable

from absl import app, flags

from mlgo.flags.help import asks_for_help, help_text
from mlgo.flags.peer_arguments import translated
from mlgo.problems.problem import Problem, load_problem
from mlgo.run import locate
from mlgo.run.exit import RESUMABLE, exit_code_of
from mlgo.run.exit_codes import ExitCode, RunError
from mlgo.run.printable import printable_message
from mlgo.run.progress import tell

FLAGS = flags.FLAGS


def run_command(main: Callable[[list[str]], int]) -> None:
    """Parses the flags, calls `main` with the positional arguments, and exits with its code or that of its error."""
    # tf-agents 0.19 needs Keras 2. The start-up messages of TensorFlow are of no use to a user.
    os.environ.setdefault("TF_USE_LEGACY_KERAS", "1")
    os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "2")
    app.run(lambda arguments: exit_code_of(lambda: main(arguments), RESUMABLE), flags_parser=parse_flags)


def parse_flags(arguments: list[str]) -> list[str]:
    """For app.run: prints the help, or reports a wrong flag in one sentence and exits with ExitCode.USER_ERROR.

    Settings of ml-compiler-opt become flags and settings of ours; notes say what has no effect.
    """
    if asks_for_help(arguments[1:]):
        main = sys.modules["__main__"]
        print(help_text(main.__doc__ or "", FLAGS.get_key_flags_for_module(arguments[0])))
        raise SystemExit(int(ExitCode.DONE))
    try:
        translation = translated(arguments, set(FLAGS), locate.user_path)
        found = FLAGS(translation.arguments)
        for note in translation.notes:
            tell(f"note: {note}")
        return found
    except RunError as error:
        print(printable_message(f"error: {error}"), file=sys.stderr)
        raise SystemExit(int(error.exit_code)) from error
    except flags.Error as error:
        print(printable_message(f"error: {error}. See --help"), file=sys.stderr)
        raise SystemExit(int(ExitCode.USER_ERROR)) from error


def refuse_arguments(arguments: list[str]) -> None:
    """Raises: RunError: there is a positional argument."""
    if len(arguments) > 1:
        raise RunError(f"argument {arguments[1]!r}", "is not a flag", "See --help")


def problem_from_flags(name: str) -> Problem:
    """The problem that --problem names. Raises: RunError: there is none of this name."""
    try:
        return load_problem(name)
    except ValueError as error:
        remedy = "Give one of these, or add a folder below mlgo/problems"
        raise RunError(f"--problem={name}", str(error), remedy) from error
