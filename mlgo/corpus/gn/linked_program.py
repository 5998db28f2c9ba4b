"""A program that the build links, kept beside its corpus, so that it can be linked from other objects of its modules.

The folder has
  NAME                    the program
  NAME.link.json          {"objects": [path], "libraries": [word]}: what a link reads besides the modules' objects
  compile_commands.json   compilation database: how each module of the program becomes its object
  objects/, libraries/    the files that NAME.link.json names
"""

import pathlib
import shutil
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from mlgo.corpus.gn import gn_build
from mlgo.corpus.gn.gn_build import Configured
from mlgo.run import files
from mlgo.run.exit_codes import RunError

DATABASE = "compile_commands.json"
_OBJECTS, _LIBRARIES = "objects", "libraries"
_OBJECT_SUFFIX, _ARCHIVE_SUFFIX = ".o", ".a"
#: Archives that a link names: of C, C++ and Rust.
_LIBRARY_SUFFIXES = (_ARCHIVE_SUFFIX, ".rlib")
_MODULE_SUFFIX = ".bc"
#: Options of the preprocessor and the front end, and paths of this machine's build, which mean nothing to a module.
_DROPPED = ("-D", "-I", "-U", "-W", "-std=", "-isystem", "--sysroot=", "--target=", "-fmodule-name=", "-nostdinc")
#: Dropped with the next word: those of them whose value may be a word of its own, and what the entry has anyway.
_WITH_VALUE = frozenset(("-D", "-I", "-U", "-isystem", "-c", "-o"))


def link_name(program: str) -> str:
    """The name of the file that says what a link of `program` reads."""
    return f"{program}.link.json"


def keep(configured: Configured, program: str, corpus: pathlib.Path, output: pathlib.Path) -> None:
    """Writes the folder `output` of `program`, a path in the build folder, of whose build `corpus` was extracted.
    Raises: RunError: ninja does not link it."""
    build, name = configured.layout.build, pathlib.PurePath(program).name
    if not (build / program).is_file():
        raise RunError(f"program {program}", f"is not in {build}", "Name a program that the targets link")

    def inputs_of(paths: Sequence[str]) -> dict[str, list[str]]:
        return gn_build.inputs_in(gn_build.query(configured, paths), only_explicit=True)

    lines = gn_build.commands(configured, program)
    found = [entry["arguments"] for entry in gn_build.compile_entries(lines, ".")]
    compiles = {words[words.index("-o") + 1]: words for words in found}  # By their objects.
    objects = objects_of(program, inputs_of)
    modules = [path for path in objects if path in compiles and (corpus / (path + _MODULE_SUFFIX)).is_file()]
    others = [path for path in objects if path not in modules]
    with files.directory_written_atomically(output) as folder:
        shutil.copy(build / program, folder / name)
        (folder / _LIBRARIES).mkdir()
        link = {
            "objects": _copied(others, build, folder / _OBJECTS),
            "libraries": kept_libraries(gn_build.link_words(lines), build, folder / _LIBRARIES),
        }
        entries = [module_entry(path + _MODULE_SUFFIX, compiles[path], f"../{corpus.name}") for path in modules]
        files.write_json_atomically(folder / link_name(name), link)
        files.write_json_atomically(folder / DATABASE, entries)


def objects_of(program: str, inputs_of: Callable[[Sequence[str]], Mapping[str, Sequence[str]]]) -> list[str]:
    """The objects that `program` is linked from, in order; an archive that the build makes counts as its objects.
    Args: inputs_of: files -> for each, what it is made from. Is asked about all archives of a level at once."""
    inputs: dict[str, Sequence[str]] = {}
    asked = [program]
    while asked:
        inputs |= inputs_of(asked)
        named = dict.fromkeys(path for made in asked for path in inputs[made] if path.endswith(_ARCHIVE_SUFFIX))
        asked = [path for path in named if path not in inputs]
    found: dict[str, None] = {}

    def add(path: str) -> None:
        for part in inputs[path]:
            if part.endswith(_ARCHIVE_SUFFIX):
                add(part)
            elif part.endswith(_OBJECT_SUFFIX):
                found[part] = None

    add(program)
    return list(found)


def module_entry(module: str, arguments: Sequence[str], directory: str) -> dict[str, Any]:
    """The entry of a compilation database that makes an object of a module.
    Args: arguments: of the compile of its source. directory: of the modules, from the folder of the database."""
    kept, rest = [arguments[0]], iter(arguments[1:])
    for word in rest:
        if word in _WITH_VALUE:
            next(rest, None)
        elif not word.startswith(_DROPPED) or word.startswith("-Wa,"):  # Options of the assembler.
            kept.append(word)
    return {"directory": directory, "file": module, "arguments": [*kept, "-x", "ir", "-c", module]}


def kept_libraries(words: Sequence[str], build: pathlib.Path, folder: pathlib.Path) -> list[str]:
    """The words of a link that name libraries; archives that are no part of the sysroot are copied to `folder`.

    Args: words: of the link; relative paths count from `build`.
    Returns: words; relative paths count from the parent of `folder`.
    """
    places = [build / word[2:] for word in words if word.startswith("-L")]
    found: list[str] = []
    copies: dict[str, pathlib.Path] = {}
    for word in words:
        if word.startswith("-l"):
            name = word[3:] if word.startswith("-l:") else f"lib{word[2:]}{_ARCHIVE_SUFFIX}"
            archive = next((place / name for place in places if (place / name).is_file()), None)
        elif word.endswith(_LIBRARY_SUFFIXES) and not word.startswith("-"):
            archive = build / word
        else:
            continue
        if archive is None:
            found.append(word)
        else:
            name = archive.name if copies.get(archive.name, archive) == archive else f"{len(copies)}_{archive.name}"
            copies[name] = archive
            shutil.copyfile(archive, folder / name)
            found.append(f"{folder.name}/{name}")
    return found


def _copied(objects: Sequence[str], build: pathlib.Path, folder: pathlib.Path) -> list[str]:
    """Copies objects of the build to `folder`; returns their paths from its parent."""
    folder.mkdir()
    names = [f"{number:04}_{pathlib.PurePath(path).name}" for number, path in enumerate(objects)]
    for path, name in zip(objects, names):
        shutil.copyfile(build / path, folder / name)
    return [f"{folder.name}/{name}" for name in names]
