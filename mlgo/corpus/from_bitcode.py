"""Makes a corpus of the bitcode files in a folder, as make_corpus of mlgo-utils does."""

import dataclasses
import os
import pathlib
from collections.abc import Callable, Mapping, Sequence

from mlgo.corpus import bitcode, properties
from mlgo.corpus.command import CompileCommand
from mlgo.corpus.corpus import BITCODE_SUFFIX
from mlgo.corpus.properties import Property
from mlgo.corpus.storage import MAX_FILE_BYTES
from mlgo.corpus.writer import CorpusWriter, WrittenCorpus
from mlgo.run.exit_codes import ExitCode, RunError
from mlgo.run.regular_file import read_regular


@dataclasses.dataclass(frozen=True)
class MadeCorpus:
    """The corpus, .bc files that hold no bitcode with the reason, and what sets modules apart from ordinary code."""

    written: WrittenCorpus
    left_out: tuple[tuple[str, str], ...]
    #: How many modules have no bitcode.
    placeholders: int
    properties: Mapping[str, Mapping[Property, str]]


def find_bitcode(folder: pathlib.Path) -> list[str]:
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


def make(
    folder: pathlib.Path,
    paths: Sequence[str],
    output: pathlib.Path,
    default_args: CompileCommand,
    done: Callable[[], None] = lambda: None,
    allow_empty: bool = False,
) -> MadeCorpus:
    """Writes the corpus of the bitcode at `paths` below `folder` to `output`; `done` is called after each.
    `allow_empty`: whether a file without content becomes a module, which cannot be compiled.

    Raises: RunError: a file cannot be read, none holds bitcode, or the corpus cannot be written.
    """
    left_out = []
    placeholders = 0
    found = {}
    with CorpusWriter(output, command_override=default_args, allow_empty=allow_empty) as writer:
        for path in paths:
            try:
                content = read_regular(folder / path, MAX_FILE_BYTES)
            except OSError as error:
                wrong = f"cannot be read: {error.strerror}"
                raise RunError(f"{folder / path}", wrong, "make it readable or remove it") from error
            name = path.removesuffix(BITCODE_SUFFIX)
            if not content and not allow_empty:
                left_out.append((path, "is empty"))
            elif content and not bitcode.is_bitcode(content):
                left_out.append((path, "does not start as bitcode does"))
            elif bitcode.holds_itself(content):
                left_out.append((path, "holds a copy of itself, as -save-temps with -fembed-bitcode writes it"))
            else:
                placeholders += not content
                writer.add(name, content, None)
                found[name] = properties.of_module(default_args, content, is_thinlto=False)
            done()
        written = writer.finish()
    kept = {name: found[name] for name in written.modules if found[name]}
    return MadeCorpus(written, tuple(left_out), placeholders, kept)
