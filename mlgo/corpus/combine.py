"""Puts corpora into one directory as one corpus. Run by mlgo_combined_corpus.

    combine OUTPUT NAME=CORPUS...

Unlike //mlgo:combine_training_corpus it copies them, because an output of Bazel must contain all of its files.
"""

import pathlib
import sys
from collections.abc import Sequence

from mlgo.corpus import combination
from mlgo.run.exit_codes import ExitCode, RunError
from mlgo.run.printable import printable_message


def main(arguments: Sequence[str]) -> int:
    """Returns the exit code."""
    output = pathlib.Path(arguments[0])
    try:
        named = (argument.partition("=") for argument in arguments[1:])
        combination.combine_copies(output, {name: pathlib.Path(corpus) for name, _, corpus in named})
    except RunError as error:
        print(printable_message(f"combine: {error}"), file=sys.stderr)
        return error.exit_code
    return ExitCode.DONE


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
