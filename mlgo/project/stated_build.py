"""What a build makes, read from its compile_commands.json and from what its build system says about links."""

from __future__ import annotations

import os
import pathlib
import shutil
import subprocess
from collections.abc import Iterator, Sequence

from mlgo.corpus.extraction.quoting import expand_response_files, read_entry, response_file_reader, split_shell
from mlgo.project.command_line import Link, Made, understand
from mlgo.project.recording import compiler_place
from mlgo.project.records import Record
from mlgo.run.exit_codes import RunError
from mlgo.run.files import read_json

_ENDS = ("&&", "||", ";")


def commands_of(database: pathlib.Path, links: Sequence[str]) -> tuple[list[Made], dict[str, str]]:
    """The compiles of a compile_commands.json and the links that belong to them.

    Links are those of `links`, else of the build.ninja beside the database, else of the link.txt files that CMake
    writes for make.

    Args: links: commands, which run in the database's folder.
    Returns: the commands, and source -> why it is passed over.
    Raises: RunError: the database cannot be read, or no link is found.
    """
    entries = read_json(database, "compile commands", "Give a compile_commands.json")
    if not isinstance(entries, list):
        raise RunError(f"--compile_commands={database}", "is not a list of commands", "Give a compile_commands.json")
    folder = os.path.dirname(os.path.abspath(database))
    found: list[Made] = []
    others: dict[str, str] = {}
    for index, entry in enumerate(entries):
        command = read_entry(entry, folder)
        if isinstance(command, str):
            others[f"entry {index}"] = command
            continue
        made = understood(command.words, command.directory)
        if not made:
            others[command.source or f"entry {index}"] = (
                f"is no compile of clang's: {os.path.basename(command.words[0])}"
            )
        found += made
    found += _links(database, folder, links)
    return found, others


def understood(words: Sequence[str], directory: str) -> list[Made]:
    """What a command makes, as if clang had run it; empty: it is no compiler's."""
    place = compiler_place(words)
    if place is None:
        return []
    tool = "clang++" if "++" in os.path.basename(words[place]) else "clang"
    return understand(Record(tool, directory, tuple(words[place + 1 :]), 0, "clang", 0.0, 0))


def _links(database: pathlib.Path, folder: str, given: Sequence[str]) -> list[Link]:
    if given:
        made = [one for command in given for one in _made_by(command, folder)]
        if not made:
            raise RunError(f"--link={given[0]}", "links nothing", "Write it as the build does: cc a.o b.o -o program")
        return made
    if os.path.exists(os.path.join(folder, "build.ninja")):
        return _of_ninja(folder)
    texts = sorted(pathlib.Path(folder).glob("**/CMakeFiles/*.dir/link.txt"))
    found = [one for path in texts for one in _made_by(path.read_text(errors="surrogateescape"), path.parents[2])]
    if not found:
        raise RunError(
            f"--compile_commands={database}",
            "has no links, and neither build.ninja nor CMake's link.txt is beside it",
            "Add --link='cc a.o b.o -o program', or write the build behind --",
        )
    return found


def _of_ninja(folder: str) -> list[Link]:
    ninja = shutil.which("ninja")
    if ninja is None:
        raise RunError("ninja", "is not on PATH, and tells the links of build.ninja", "Install it, or add --link=...")
    done = subprocess.run([ninja, "-C", folder, "-t", "commands"], capture_output=True, check=False)
    if done.returncode:
        wrong = f"cannot read {folder}: {done.stderr.decode('utf-8', 'replace').strip()[-200:]}"
        raise RunError("ninja -t commands", wrong, "Configure the folder again, or add --link=...")
    lines = os.fsdecode(done.stdout).splitlines()
    return [one for line in lines if " -c " not in line for one in _made_by(line, folder)]


def _made_by(text: str, folder: str | pathlib.Path) -> list[Link]:
    """The links in a text of shell commands."""
    found: list[Link] = []
    for line in text.splitlines():
        directory = str(folder)
        for words in _commands(split_shell(line)):
            if words[0] == "cd" and len(words) == 2:
                directory = os.path.normpath(os.path.join(directory, words[1]))
                continue
            expanded = tuple(expand_response_files(words, response_file_reader(directory)))
            found += [one for one in understood(expanded, directory) if isinstance(one, Link)]
    return found


def _commands(words: Sequence[str]) -> Iterator[list[str]]:
    """The single commands of a line of a shell."""
    current: list[str] = []
    for word in [*words, _ENDS[0]]:
        if word in _ENDS or word.endswith(";"):
            current += [word.rstrip(";")] if word not in _ENDS else []
            if current:
                yield current
            current = []
        else:
            current.append(word)
