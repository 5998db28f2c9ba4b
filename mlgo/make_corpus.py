"""Makes a corpus of bitcode files: every .bc file below a directory is a module.

    ./bazelw run //mlgo:make_corpus -- --input_dir=build/bitcode --output_dir=corpus --default_args="-O2 -ffunction-sections"

--default_args are cc1 options, quoted as in a shell, which every module is compiled with (global_command_override). Nothing tells
whether the bitcode was taken before optimisation, where a policy must see it: where you can, build with
`-Xclang -fembed-bitcode=all` and use //mlgo:extract_ir, which also finds each module's own options. Equal bitcode becomes one
module. Relative paths are relative to where you type the command. Exit codes: 0 done, 2 something is not as it should be,
10 no bitcode found.
"""

import argparse
import shlex
import sys

from mlgo.corpus import command, from_bitcode
from mlgo.run import locate, progress
from mlgo.run.exit import exit_code_of
from mlgo.run.exit_codes import ExitCode, RunError


def _parse(arguments: list[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="make_corpus",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
        allow_abbrev=False,
    )
    parser.add_argument("--input_dir", required=True, metavar="DIR", help="directory with .bc files, at any depth")
    parser.add_argument(
        "--output_dir", required=True, metavar="DIR", help="the corpus: a new, an empty, or a corpus directory"
    )
    parser.add_argument(
        "--default_args",
        nargs="?",
        default="",
        const="",
        metavar="ARGS",
        help='cc1 options of every module; default: none ("")',
    )
    return parser.parse_args(arguments)


def _default_args(text: str) -> tuple[str, ...]:
    try:
        words = tuple(shlex.split(text))
        # As the compile will: an option that lacks its argument is found here.
        command.portable_command(words)
        return words
    except ValueError as error:
        raise RunError(
            f"--default_args={text}", f"is not quoted as a shell has it: {error}", "close the quotes"
        ) from error
    except command.CommandError as error:
        raise RunError(f"--default_args={text}", f"{error.subject} {error.wrong}", "give the argument") from error


def run(arguments: list[str]) -> int:
    """Runs the command; returns its exit code."""
    flags = _parse(arguments)
    folder, output = locate.user_path(flags.input_dir), locate.user_path(flags.output_dir)
    default_args = _default_args(flags.default_args)
    for argument in command.paths_in(default_args):
        print(f"note: {argument} names a path of this machine; the corpus cannot be moved to another", file=sys.stderr)
    paths = from_bitcode.find_bitcode(folder)
    shown = progress.start("make_corpus", len(paths), "files")
    try:
        made = from_bitcode.make(folder, paths, output, default_args, shown.advance)
    finally:
        shown.close()
    for path, reason in made.left_out[:5]:
        print(f"left out: {path} {reason}", file=sys.stderr)
    if len(made.left_out) > 5:
        print(f"left out: {len(made.left_out) - 5} more", file=sys.stderr)
    print(
        f"done {len(made.written.modules)} of {len(paths)} files, {len(made.written.duplicates)} duplicates,"
        f" {len(made.left_out)} without bitcode -> {output}",
        file=sys.stderr,
    )
    return ExitCode.DONE


if __name__ == "__main__":
    raise SystemExit(exit_code_of(lambda: run(sys.argv[1:])))
