"""A folder with links to a project's files, our root target, tools and the build folder.

The project's tree is not changed. Paths in the build begin with `../../`, so its bytes are the same on every machine.
"""

import dataclasses
import json
import os
import pathlib
import re
import shlex
import shutil
from collections.abc import Iterable, Mapping, Sequence

from mlgo.run import files
from mlgo.run.exit_codes import RunError

#: Folders that we add to a project's, below its root.
ROOT_FOLDER = "mlgo_corpus"
TOOLCHAIN_FOLDER = "mlgo_toolchain"
OUT_FOLDER = "out"
PROGRAMS_FOLDER = "mlgo_programs"
ADDED_FOLDERS = (ROOT_FOLDER, TOOLCHAIN_FOLDER, OUT_FOLDER, PROGRAMS_FOLDER)

#: Ninja's names of the two root targets.
GROUP = f"{ROOT_FOLDER}:corpus"
LIBRARY = f"{ROOT_FOLDER}:linked"
#: Where the second one lies, from the build folder.
LIBRARY_FILE = "libmlgo_corpus.so"

_ARGUMENT = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
# A label: //folder, //folder:name or //:name, with a toolchain in parentheses if need be.
_LABEL = re.compile(r'//[^":$\\]*(:[^":$\\]+)?')

# Whole archives, or the linker would take what nothing asks for out; a symbol that cannot be replaced is as good as one
# in a program. What the compiler driver adds behind is no part of it.
LIBRARY_FLAGS = ("-Wl,--whole-archive", "-Wl,-Bsymbolic")

#: Fingerprints of a work folder's inputs; an interrupted build is resumed only with the same.
_KEY_FILE = "fingerprints.json"

#: What is placed in the project: name of a file or folder -> what is placed below it.
_Places = dict[str, "_Places"]


def args_text(arguments: Mapping[str, str]) -> str:
    """args.gn, sorted by name, of names and values as gn writes them: `true`, `2`, `"text"`, `[ "a" ]`.
    Raises: RunError: a name that gn cannot have, or a value of several lines."""
    for name, value in arguments.items():
        if not _ARGUMENT.fullmatch(name):
            remedy = "give NAME=VALUE, as in use_thin_lto=true"
            raise RunError(f"gn argument {name!r}", "is no name of an argument", remedy)
        if not value.strip() or "\n" in value:
            wrong = "has no value on one line"
            raise RunError(f"gn argument {name}={value!r}", wrong, 'give true, false, 2, "text" or [ "a", "b" ]')
    return "".join(f"{name} = {arguments[name].strip()}\n" for name in sorted(arguments))


def root_build_file(targets: Sequence[str], library_flags: Sequence[str] | None = None) -> str:
    """BUILD.gn of the root: a group of all `targets` or, with `library_flags`, a shared library of all of their code.

    The library exports the symbols of its targets: with hidden symbols it is empty. Raises: RunError: no target, or one
    that is no label of the default toolchain."""
    if not targets:
        raise RunError("targets", "are none", "name at least one, such as //third_party/re2")
    for target in targets:
        if not _LABEL.fullmatch(target):
            raise RunError(f"target {target!r}", "is no gn label", "give //folder, //folder:name or //:name")
    deps = "".join(f'    "{target}",\n' for target in targets)
    if library_flags is None:
        return f'group("corpus") {{\n  testonly = true\n  deps = [\n{deps}  ]\n}}\n'
    flags = ", ".join(f'"{flag}"' for flag in library_flags)
    return (
        f'shared_library("linked") {{\n  testonly = true\n  output_name = "mlgo_corpus"\n'
        f"  ldflags = [ {flags} ]\n  deps = [\n{deps}  ]\n}}\n"
    )


@dataclasses.dataclass(frozen=True)
class Layout:
    """Where things lie below a work folder."""

    work: pathlib.Path

    @property
    def source(self) -> pathlib.Path:
        return self.work / "src"

    @property
    def build(self) -> pathlib.Path:
        """gn's output folder, two below the source: `../../` leads to the project's root."""
        return self.source / OUT_FOLDER / "corpus"

    @property
    def bytecode(self) -> pathlib.Path:
        """Where Python keeps compiled modules: beside its scripts would be in the project's tree."""
        return self.work / "bytecode"

    @property
    def programs(self) -> pathlib.Path:
        """A folder for PATH."""
        return self.work / "bin"


def prepare(
    work: pathlib.Path,
    tree: pathlib.Path,
    toolchain: Mapping[str, pathlib.Path],
    contents: Mapping[str, str],
    fingerprints: Mapping[str, object],
    placed: Mapping[str, pathlib.Path],
    copied: Sequence[str],
) -> Layout:
    """Makes the folder, or reuses it when its fingerprints are equal.

    Args:
      work: the folder; it is emptied when its fingerprints differ.
      contents: further files, by path from the root.
      fingerprints: everything that determines the objects, as JSON.
      toolchain, placed, copied: see gn_build.Project.

    Raises: RunError: the tree is no gn project, or has a folder that we add; a path of `placed` or `copied` leads out
      of it, or one of `copied` is no folder.
    """
    if not (tree / ".gn").is_file():
        raise RunError(f"tree {tree}", "has no file .gn", "give the root folder of a project that gn configures")
    if taken := [name for name in ADDED_FOLDERS if name in os.listdir(tree)]:
        wrong = f"has {', '.join(taken)}, which we add"
        raise RunError(f"tree {tree}", wrong, "remove it: it is left by an earlier build")
    layout = Layout(work)
    key = json.dumps(fingerprints, indent=1, sort_keys=True) + "\n"
    known = work / _KEY_FILE
    if work.exists() and not (known.is_file() and known.read_text(encoding="utf-8") == key):
        shutil.rmtree(work)
    layout.build.mkdir(parents=True, exist_ok=True)
    layout.programs.mkdir(exist_ok=True)
    _show(layout.source, tree, _places([*placed, *copied]))
    for name in copied:
        _copy(layout.source / name, tree / name)
    for name, target in placed.items():
        _link(layout.source / name, target)
    for name, target in toolchain.items():
        _link(layout.source / TOOLCHAIN_FOLDER / name, target)
    for name, text in contents.items():
        _write_if_other(layout.source / name, text)
    files.write_atomically(known, key.encode("utf-8"))
    return layout


def add_programs(layout: Layout, programs: Mapping[str, pathlib.Path]) -> None:
    """Makes each name a program on PATH that starts the one given."""
    for name, program in programs.items():
        # Not a link: an interpreter finds its library from where it is started.
        path = layout.programs / name
        _write_if_other(path, f'#!/bin/sh\nexec {shlex.quote(str(program))} "$@"\n')
        path.chmod(0o755)


def _places(paths: Iterable[str]) -> _Places:
    top: _Places = {}
    for path in paths:
        here = top
        for part in path.split("/"):
            if part in ("", ".", ".."):
                raise RunError(f"placed file {path!r}", "is no path from the project's root", "Give one such as a/b")
            here = here.setdefault(part, {})
    return top


def _show(place: pathlib.Path, folder: pathlib.Path, places: _Places) -> None:
    """Makes `place` a folder with links to the entries of `folder`, but for what `places` puts there."""
    # Never write through a link into the tree.
    if place.is_symlink():
        place.unlink()
    place.mkdir(parents=True, exist_ok=True)
    for name in sorted(os.listdir(folder)) if folder.is_dir() else ():
        if name not in places:
            _link(place / name, folder / name)
    for name, below in places.items():
        if below:
            _show(place / name, folder / name, below)


def _copy(place: pathlib.Path, folder: pathlib.Path) -> None:
    """Makes `place` a copy of `folder` with its time stamps, unless it is there: with its name, a copy is whole."""
    if place.is_symlink():
        place.unlink()
    if place.is_dir():
        return
    if not folder.is_dir():
        raise RunError(f"copied folder {folder}", "is not in the tree", "Name folders of the tree")
    begun = place.with_name(f".{place.name}.copy")
    shutil.rmtree(begun, ignore_errors=True)
    shutil.copytree(folder, begun)
    begun.replace(place)


def _link(place: pathlib.Path, target: pathlib.Path) -> None:
    place.parent.mkdir(parents=True, exist_ok=True)
    target = target.resolve()
    if place.is_symlink() and os.readlink(place) == str(target):
        return
    if place.is_dir() and not place.is_symlink():
        shutil.rmtree(place)  # The build made it in a folder of links, and the tree has one of its name now.
    place.unlink(missing_ok=True)
    place.symlink_to(target)


def _write_if_other(path: pathlib.Path, text: str) -> None:
    """A file whose text did not change keeps its time stamp, or ninja would configure anew."""
    if not (path.is_file() and path.read_text(encoding="utf-8") == text):
        files.write_atomically(path, text.encode("utf-8"))
