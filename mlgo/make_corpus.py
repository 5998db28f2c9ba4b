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
import os
import pathlib
import shlex
import sys

from mlgo.corpus import bitcode, command, command_check, level, properties
from mlgo.corpus.corpus import BITCODE_SUFFIX, Corpus
from mlgo.corpus.storage import MAX_FILE_BYTES
from mlgo.corpus.writer import CorpusWriter
from mlgo.flags.arguments import command_parser
from mlgo.run import locate, progress
from mlgo.run.exit import exit_code_of
from mlgo.run.exit_codes import ExitCode, RunError
from mlgo.run.progress import tell
from mlgo.run.regular_file import read_regular

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


def _find_bitcode(folder: pathlib.Path) -> list[str]:
    """Paths of the .bc files below `folder`, relative to it, sorted. Links to directories are not followed.
    Raises: RunError: a directory cannot be read, or there is no such file."""
    if not folder.is_dir():
        raise RunError(f"--input_dir={folder}", "is not a directory", "give the directory with the .bc files")

    def refuse(error: OSError):
        wrong = f"{error.filename} cannot be read: {error.strerror}"
        raise RunError(f"--input_dir={folder}", wrong, "make it readable")

    found = []
    for directory, _, names in os.walk(folder, onerror=refuse):
        paths = (os.path.join(directory, name) for name in names if name.endswith(BITCODE_SUFFIX))
        found += [os.path.relpath(path, folder) for path in paths]
    if not found:
        remedy = "give the directory with the .bc files; of objects, //mlgo:extract_ir makes a corpus"
        raise RunError(f"--input_dir={folder}", "has no .bc file below it", remedy, ExitCode.NOTHING_PRODUCED)
    return sorted(found)


def _content(path: pathlib.Path) -> bytes:
    try:
        return read_regular(path, MAX_FILE_BYTES)
    except OSError as error:
        raise RunError(f"{path}", f"cannot be read: {error.strerror}", "make it readable or remove it") from error


def _unusable(content: bytes, allow_empty: bool) -> str | None:
    """Why the content of a .bc file gives no module; None: it gives one."""
    if not content:
        return None if allow_empty else "is empty"
    if not bitcode.is_bitcode(content):
        return "does not start as bitcode does"
    if bitcode.holds_itself(content):
        return "holds a copy of itself, as -save-temps with -fembed-bitcode writes it"
    return None


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
    if os.path.realpath(folder) == os.path.realpath(output):
        raise RunError(f"--output_dir={output}", "is the input, whose commands would be lost", "Give another directory")
    default_args = _default_args(flags.default_args)
    for argument in command.paths_in(default_args):
        tell(f"note: {argument} names a path of this machine; the corpus cannot be moved to another")
    paths = _find_bitcode(folder)
    left_out, found, placeholders = [], {}, 0
    with (
        CorpusWriter(output, command_override=default_args, allow_empty=flags.allow_empty) as writer,
        contextlib.closing(progress.start("make_corpus", len(paths), "files")) as shown,
    ):
        for path in paths:
            content, name = _content(folder / path), path.removesuffix(BITCODE_SUFFIX)
            if (reason := _unusable(content, flags.allow_empty)) is not None:
                left_out.append((path, reason))
            else:
                placeholders += not content
                writer.add(name, content, None)
                found[name] = properties.of_module(default_args, content, is_thinlto=False)
            shown.advance()
        written = writer.finish()
    corpus = Corpus.load(output)
    said = properties.lines({name: found[name] for name in written.modules}, len(written.modules))
    for note in (*command_check.notes(corpus), *(f"note: {line}" for line in said), *level.notes(corpus)):
        tell(note)
    for path, reason in left_out[:_SHOWN]:
        tell(f"left out: {path} {reason}")
    if len(left_out) > _SHOWN:
        tell(f"left out: {len(left_out) - _SHOWN} more")
    if placeholders:
        tell(f"note: {placeholders} modules are empty (--allow_empty); they cannot be compiled")
    tell(
        f"done {len(written.modules)} of {len(paths)} files, {len(written.duplicates)} duplicates,"
        f" {len(left_out)} without bitcode -> {output}"
    )
    return ExitCode.DONE


if __name__ == "__main__":
    raise SystemExit(exit_code_of(lambda: run(sys.argv[1:])))
