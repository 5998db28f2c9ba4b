"""Combines corpora below one directory without copying, as combine_training_corpus of mlgo-utils does.

    combination OUTPUT NAME=CORPUS...

As a program, which mlgo_combined_corpus runs, it copies them first: an output of Bazel must contain all of its files.

The module NAME of the corpus in ROOT/part becomes part/NAME. Commands refer to files/... relative to their corpus, so
those files are linked into ROOT/files/... too; their names begin with a digest, so different files have different
names. The parts remain corpora.
"""

import errno
import os
import pathlib
import shutil
import sys
import tempfile
from collections.abc import Mapping, Sequence

from mlgo.corpus import description
from mlgo.corpus.contained_files import ContainedFiles
from mlgo.corpus.corpus import Corpus
from mlgo.corpus.selection import check_carried_file
from mlgo.corpus.storage import MAX_FILE_BYTES
from mlgo.run import files
from mlgo.run.exit_codes import ExitCode, RunError
from mlgo.run.printable import printable_message
from mlgo.run.regular_file import open_regular


def combine(root: pathlib.Path) -> dict[str, int]:
    """Writes ROOT/corpus_description.json over the corpora in the folders directly below `root`.

    Returns: how many modules each part has, by its folder's name, sorted.
    Raises: RunError: there is no part, one is broken or unfinished, two differ by more than their modules, a file
      cannot be written, or another process is writing there.
    """
    folders = _part_folders(root)
    with ContainedFiles(root):
        return _combined(root, folders)


def _combined(root: pathlib.Path, folders: Sequence[pathlib.Path]) -> dict[str, int]:
    parts = {path.name: Corpus.load(path) for path in folders}
    contents = {name: _without_modules(corpus) for name, corpus in parts.items()}
    first = next(iter(parts))
    for name, content in contents.items():
        for key in sorted(content.keys() | contents[first].keys()):
            if content.get(key) != contents[first].get(key):
                both = (contents[first], content)
                values = " and ".join(repr(each[key]) if key in each else "absent" for each in both)
                differ = f"the corpora {first} and {name} differ in {key} ({values})"
                wrong = f"{differ}, and one description has to do for both"
                raise RunError(f"--root_dir={root}", wrong, "make them alike, or combine only those that are")
    for corpus in parts.values():
        for carried in corpus.carried_files:
            _share(corpus.path / carried, root / carried)
    licences = {f"{part}/{module.name}": module.licence for part, corpus in parts.items() for module in corpus.modules}
    if any(licence != description.UNKNOWN_LICENCE for licence in licences.values()):
        files.write_atomically(root / description.LICENCES_NAME, description.encode({"modules": licences}))
    else:
        (root / description.LICENCES_NAME).unlink(missing_ok=True)
    content = {**contents[first], "modules": sorted(licences)}
    files.write_atomically(root / description.DESCRIPTION_NAME, description.encode(content))
    return {name: len(corpus.modules) for name, corpus in parts.items()}


def combine_copies(output: pathlib.Path, corpora: Mapping[str, pathlib.Path]) -> dict[str, int]:
    """Copies the corpora to `output`/NAME, and combines them there. Raises: RunError: as `combine`."""
    for name, corpus in corpora.items():
        # Plain copies: files of other actions are read-only, and links to them would lead nowhere elsewhere.
        shutil.copytree(corpus, output / name, copy_function=shutil.copyfile)
    return combine(output)


def _part_folders(root: pathlib.Path) -> list[pathlib.Path]:
    if not root.is_dir():
        raise RunError(f"--root_dir={root}", "is not a directory", "give the directory that the corpora lie in")
    if unfinished := sorted(root.glob(f"*/{description.UNFINISHED_NAME}")):
        remedy = "wait for its writer, run its command again, or move the folder away"
        raise RunError(f"corpus {unfinished[0].parent}", "is not finished", remedy)
    parts = sorted(path.parent for path in root.glob(f"*/{description.DESCRIPTION_NAME}"))
    if not parts:
        wrong, remedy = f"has no */{description.DESCRIPTION_NAME}", "put each corpus into a folder of its own there"
        raise RunError(f"--root_dir={root}", wrong, remedy, ExitCode.NOTHING_PRODUCED)
    for part in parts:
        if not description.is_safe_name(part.name) or part.name == description.FILES_FOLDER:
            raise RunError(f"{part}", "cannot be a part of the combined corpus under this name", "rename the folder")
    return parts


def _without_modules(corpus: Corpus) -> dict[str, object]:
    content = files.read_json(corpus.path / description.DESCRIPTION_NAME, "corpus description", "make the corpus again")
    del content["modules"]
    return content


def _share(source: pathlib.Path, target: pathlib.Path) -> None:
    try:
        target.parent.mkdir(exist_ok=True)
        if target.parent.is_symlink() or target.is_symlink():
            wrong = "is or lies below a symbolic link, which would lead the copy elsewhere"
            raise RunError(f"{target}", wrong, "remove the link")
        check_carried_file(source)
        if target.exists():
            check_carried_file(target)
            return
        try:
            # What a link leads to is copied: a hard link would make a file outside a part of the corpus.
            if source.is_symlink():
                raise OSError(errno.ELOOP, "is a symbolic link")
            os.link(source, target, follow_symlinks=False)
        except OSError:
            # A link, another file system, or one without hard links.
            with open_regular(source, MAX_FILE_BYTES) as descriptor, open(descriptor, "rb", closefd=False) as content:
                new, partial = tempfile.mkstemp(files.PARTIAL_SUFFIX, f".{target.name}.", target.parent)
                with open(new, "wb") as file:
                    shutil.copyfileobj(content, file)
                    os.fchmod(file.fileno(), 0o644)
            os.replace(partial, target)
    except OSError as error:
        wrong = f"cannot be written: {error.strerror}"
        raise RunError(f"{target}", wrong, "make it writable, or free space") from error


def main(arguments: Sequence[str]) -> int:
    """Returns the exit code."""
    named = (argument.partition("=") for argument in arguments[1:])
    try:
        combine_copies(pathlib.Path(arguments[0]), {name: pathlib.Path(corpus) for name, _, corpus in named})
    except RunError as error:
        print(printable_message(f"combine: {error}"), file=sys.stderr)
        return error.exit_code
    return ExitCode.DONE


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
