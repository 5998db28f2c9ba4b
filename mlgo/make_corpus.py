"""Makes a corpus of bitcode files: every .bc file below a directory is a module.

    ./bazelw run //mlgo:make_corpus -- --input_dir=build/bitcode --output_dir=corpus \\
        --default_args="-O2 -ffunction-sections"

--default_args are the cc1 options of all modules (global_command_override), quoted as in a shell. Inlining needs
bitcode from before optimisation (-emit-llvm -Xclang -disable-llvm-passes); the command names modules that the optimiser
has run on, and problems of inlining leave them out. If possible, build with
`-Xclang -fembed-bitcode=all` and use //mlgo:extract_ir, which also finds the options of each module. Files with equal
bitcode become one module. An empty file is left out; with --allow_empty it becomes a module of its own, which no
command can compile, for tests of tools that read corpora. Relative paths are relative to the directory in which you
run the command.

Exit codes: 0 done, 2 a flag or an input is not usable, 10 no bitcode found.
"""

import contextlib
import shlex
import sys

from mlgo.corpus import command, command_check, from_bitcode, level, properties
from mlgo.corpus.corpus import Corpus
from mlgo.flags.arguments import command_parser
from mlgo.run import locate, progress
from mlgo.run.exit import exit_code_of
from mlgo.run.exit_codes import ExitCode, RunError
from mlgo.run.progress import tell

_SHOWN = 5


def _default_args(text: str) -> command.CompileCommand:
    try:
        args = command.CompileCommand(shlex.split(text))
        _ = args.options  # Finds an option without its argument before any compile does.
        return args
    except ValueError as error:
        raise RunError(f"--default_args={text}", f"is not quoted as in a shell: {error}", "close the quotes") from error
    except command.CommandError as error:
        raise RunError(f"--default_args={text}", f"{error.subject} {error.wrong}", "give the argument") from error


def run(arguments: list[str]) -> int:
    parser = command_parser("make_corpus", __doc__)
    add = parser.add_argument
    add("--input_dir", required=True, metavar="DIR", help="directory with .bc files, at any depth")
    add("--output_dir", required=True, metavar="DIR", help="the corpus: a new, an empty, or a corpus directory")
    text = 'cc1 options of every module. Default: none ("")'
    add("--default_args", nargs="?", default="", const="", metavar="ARGS", help=text)
    text = "make modules of empty .bc files too; compiling them is an error. Default: leave them out"
    add("--allow_empty", action="store_true", help=text)
    flags = parser.parse_args(arguments)
    folder, output = locate.user_path(flags.input_dir), locate.user_path(flags.output_dir)
    default_args = _default_args(flags.default_args)
    for argument in command.paths_in(default_args):
        tell(f"note: {argument} names a path of this machine; the corpus cannot be moved to another")
    paths = from_bitcode.find_bitcode(folder)
    with contextlib.closing(progress.start("make_corpus", len(paths), "files")) as shown:
        made = from_bitcode.make(folder, paths, output, default_args, shown.advance, flags.allow_empty)
    written = Corpus.load(output)
    said = [f"note: {line}" for line in properties.lines(made.properties, len(written.modules))]
    for note in (*command_check.notes(written), *said, *level.notes(written)):
        tell(note)
    for path, reason in made.left_out[:_SHOWN]:
        tell(f"left out: {path} {reason}")
    if len(made.left_out) > _SHOWN:
        tell(f"left out: {len(made.left_out) - _SHOWN} more")
    if made.placeholders:
        tell(f"note: {made.placeholders} modules are empty (--allow_empty); they cannot be compiled")
    tell(
        f"done {len(made.written.modules)} of {len(paths)} files, {len(made.written.duplicates)} duplicates,"
        f" {len(made.left_out)} without bitcode -> {output}"
    )
    return ExitCode.DONE


if __name__ == "__main__":
    raise SystemExit(exit_code_of(lambda: run(sys.argv[1:])))
