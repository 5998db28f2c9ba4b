"""Makes one corpus of those in the folders directly below a directory; nothing is copied.

    ./bazelw run //mlgo:combine_training_corpus -- --root_dir=corpora       # has corpora/zstd, corpora/sqlite

writes corpora/corpus_description.json; the module NAME of corpora/zstd is zstd/NAME in it. All of them must be alike but for their
modules: one `has_thinlto`, one `global_command_override`. Licences go along, and so do files that commands refer to. Relative
paths are relative to where you type the command. Exit codes: 0 done, 2 something is not as it should be, 10 no corpus found.
"""

import argparse
import sys

from mlgo.corpus import combination
from mlgo.run import locate
from mlgo.run.exit import exit_code_of
from mlgo.run.exit_codes import ExitCode


def run(arguments: list[str]) -> int:
    """Runs the command; returns its exit code."""
    parser = argparse.ArgumentParser(
        prog="combine_training_corpus",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
        allow_abbrev=False,
    )
    parser.add_argument(
        "--root_dir", required=True, metavar="DIR", help="directory with a corpus in each of its folders"
    )
    parser.add_argument(
        "--verbosity",
        choices=("DEBUG", "INFO", "WARNING", "ERROR"),
        default="INFO",
        nargs="?",
        const="INFO",
        help="WARNING and ERROR leave out what was combined",
    )
    flags = parser.parse_args(arguments)
    root = locate.user_path(flags.root_dir)
    parts = combination.combine(root).modules
    if flags.verbosity in ("WARNING", "ERROR"):
        return ExitCode.DONE
    for name, count in parts.items():
        print(f"{count:>8,} modules of {name}", file=sys.stderr)
    print(f"done {sum(parts.values()):,} modules of {len(parts)} corpora -> {root}", file=sys.stderr)
    return ExitCode.DONE


if __name__ == "__main__":
    raise SystemExit(exit_code_of(lambda: run(sys.argv[1:])))
