"""Objects of a compile_commands.json (https://clang.llvm.org/docs/JSONCompilationDatabase.html)."""

import os
import pathlib
from collections.abc import Callable, Sequence
from typing import Any

from mlgo.corpus.extraction import quoting
from mlgo.corpus.extraction.listing import BuildObject, Listing, absolute, read_json
from mlgo.corpus.extraction.outcome import Kind, Omission
from mlgo.run.exit_codes import RunError

WHAT = "a compile_commands.json (cmake -DCMAKE_EXPORT_COMPILE_COMMANDS=ON, ninja -t compdb, Bear)"

# Options of clang's driver whose argument is a word of its own, which may look like an option: of these only
# (clang/include/clang/Options/Options.td, LLVM 22) a `-o` that follows is no output.
_WITH_VALUE = frozenset(
    """
    -Xclang -Xlinker -Xassembler -Xpreprocessor -Xanalyzer -Xarch_host -Xarch_device -Xopenmp-target -Xflang
    -mllvm -mmlir
    -MF -MT -MQ -MJ -D -U -I -F -L -include -imacros -include-pch -iquote -idirafter -isystem -isystem-after -iframework
    -iprefix -iwithprefix -iwithprefixbefore -iwithsysroot -isysroot -ivfsoverlay -x -arch -target -T -u -z -e
    -framework
    -working-directory -serialize-diagnostics -dependency-file -dependency-dot -resource-dir --param --sysroot
    """.split()
)

# clang has a few options that start with -o and are not the joined form of it.
_NOT_OUTPUT = ("-objcmt-", "-object")

#: Outputs that are no files to read.
_NO_FILES = frozenset({"-", os.devnull})


def load(path: pathlib.Path) -> Listing:
    """The objects of the database at `path`. Raises: RunError: it is no list of entries."""
    entries = read_json(path, WHAT)
    if not isinstance(entries, list):
        raise RunError(f"--input={path}", "is not a list of compile commands", f"give {WHAT}, or another --input_type")
    return objects_of(entries, os.path.dirname(os.path.abspath(path)))


def objects_of(entries: Sequence[Any], base: str, reader: Callable = quoting.response_file_reader) -> Listing:
    """The objects that the commands make.

    Args:
      entries: of the database.
      base: folder that a relative `directory` is relative to.
      reader: gives access to response files, see `quoting.response_file_reader`.
    """
    objects, omissions = [], []
    for index, entry in enumerate(entries):
        reason = _unusable(entry)
        if reason is None:
            directory = absolute(base, entry["directory"])
            arguments = entry.get("arguments")
            if arguments is None:
                arguments = quoting.split_shell(entry["command"])
            if any(argument.startswith("@") for argument in arguments):
                arguments = list(quoting.expand_response_files(arguments, reader(directory)))
            output = output_of(arguments, entry.get("file")) or entry.get("output")
            if output and output not in _NO_FILES:
                source = absolute(directory, entry["file"]) if entry.get("file") else None
                objects.append(BuildObject(output, absolute(directory, output), directory, source))
                continue
            reason = "its command writes no object file"
        omissions.append(Omission(f"entry {index}", Kind.NO_OBJECT, reason))
    return Listing(tuple(objects), tuple(omissions))


def output_of(arguments: Sequence[str], source: str | None) -> str | None:
    """The output of a compiler started with `arguments`: the last -o, else with `-c` clang's default for the source."""
    output, compiles_only = None, False
    position = 0
    while position < len(arguments):
        argument = arguments[position]
        following = arguments[position + 1] if position + 1 < len(arguments) else None
        if argument in ("-o", "--output"):
            output = following
            position += 1
        elif argument.startswith("--output="):
            output = argument.removeprefix("--output=")
        elif argument.startswith("-o") and not argument.startswith(_NOT_OUTPUT):
            output = argument[2:]
        elif argument in _WITH_VALUE:
            position += 1
        elif argument in ("-c", "--compile"):
            compiles_only = True
        position += 1
    if output is None and compiles_only and source:
        return os.path.splitext(os.path.basename(source))[0] + ".o"
    return output


def _unusable(entry: Any) -> str | None:
    if not isinstance(entry, dict):
        return "it is not an object"
    for key, kind in (("directory", str), ("file", str), ("output", str), ("command", str)):
        if entry.get(key) is not None and not isinstance(entry[key], kind):
            return f"its `{key}` is not text"
    if not entry.get("directory"):
        return "it has no `directory`"
    arguments = entry.get("arguments")
    if arguments is None and entry.get("command") is None:
        return "it has neither `command` nor `arguments`"
    if arguments is not None and not (isinstance(arguments, list) and all(isinstance(word, str) for word in arguments)):
        return "its `arguments` are not a list of texts"
    return None
