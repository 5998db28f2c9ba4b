"""The programs that an evaluation can build: those that the command brings along, and those that the user describes."""

import dataclasses
import os
import pathlib
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from mlgo.corpus.gn.gn_build import runfiles_of
from mlgo.evaluation.gn.gn_programs import GnPrograms, LinkedPrograms, load_gn_programs
from mlgo.evaluation.programs.description import read_description
from mlgo.evaluation.programs.program import Program, load_program
from mlgo.run import locate
from mlgo.run.exit_codes import RunError

_GN_PROGRAMS = "MLGO_GN_PROGRAMS"
_PACKAGE_VARIABLE = "MLGO_PROGRAM_PACKAGE_"
#: Names of groups. ALL: the default programs and those that are `extra`; EXAM: those that are `exam`.
ALL = "all"
EXAM = "exam"
#: Group (None: of the default programs) -> the kinds of its programs. The kind is a field of the description.
_GROUPS: Mapping[str | None, frozenset[str | None]] = {
    None: frozenset((None,)),
    ALL: frozenset((None, "extra")),
    EXAM: frozenset((EXAM,)),
}


@dataclasses.dataclass(frozen=True)
class Catalogue:
    """The programs that the command brings along."""

    name: str  #: default name of the output folder.
    descriptions: Mapping[str, pathlib.Path]
    #: the gn project that builds them, or has built them; None: they are built from packages.
    gn: GnPrograms | LinkedPrograms | None = None

    @classmethod
    def of_command(cls) -> "Catalogue":
        """The executables of the gn project that the command's target names in MLGO_GN_PROGRAMS, else descriptions/."""
        path = locate.of_environment(_GN_PROGRAMS)
        if path is not None:
            gn = load_gn_programs(path, runfiles_of(path))
            return cls(path.stem, gn.descriptions, gn)
        folder = locate.runfile("mlgo/evaluation/programs/descriptions/lua.json").parent
        return cls("programs", {path.stem: path for path in sorted(folder.glob("*.json"))})

    def lines(self) -> list[str]:
        contents = {name: read_description(path) for name, path in self.descriptions.items()}
        return [f"{name}: {content.get('about', '')}{_condition(content)}" for name, content in contents.items()]

    def programs(
        self,
        names: Sequence[str],
        described: Sequence[pathlib.Path],
        packages: Mapping[str, pathlib.Path],
        work: pathlib.Path,
    ) -> list[Program]:
        """The programs to evaluate.

        Args: names: programs of this catalogue and groups (ALL, EXAM); empty: the default programs, or none where
          `described` is not empty.
        Raises: RunError: a name is unknown or comes twice, or a description is not usable.
        """
        members = self._members()
        if unknown := [name for name in names if not members.get(name)]:
            known = ", ".join(name for name in members if name and members[name])
            raise RunError(f"--programs={','.join(names)}", f"names {unknown[0]!r}", f"Known: {known}")
        asked: Sequence[str | None] = names or ([] if described else [None])
        chosen = list(dict.fromkeys(program for name in asked for program in members[name]))
        paths = [self.descriptions[name] for name in chosen]
        if self.gn is not None and chosen:
            paths = self.gn.complete(chosen, work)
        found: dict[str, Program] = {}
        for path in (*paths, *described):
            program = load_program(path, packages)
            if program.name in found:
                wrong = f"describes {program.name!r}, which there is already"
                raise RunError("--program_file", wrong, "Give it another name")
            found[program.name] = program
        return list(found.values())

    def _members(self) -> dict[str | None, list[str]]:
        """Group -> its programs, and program -> itself."""
        kinds = {name: _kind(read_description(path)) for name, path in self.descriptions.items()}
        groups = {group: [name for name in kinds if kinds[name] in members] for group, members in _GROUPS.items()}
        return {**groups, **{name: [name] for name in kinds}}


def _kind(content: Mapping[str, Any]) -> str | None:
    return next((kind for kind in ("slow", "extra", EXAM) if content.get(kind)), None)


def _condition(content: Mapping[str, Any]) -> str:
    """When a program is built, for --list; empty: by default."""
    if (kind := _kind(content)) is None:
        return ""
    group = next((group for group, members in _GROUPS.items() if kind in members), None)
    return f" ({kind}: built {f'when named or with --programs={group}' if group else 'only when named'})"


class _Packages(Mapping[str, pathlib.Path]):
    """Package name -> source tree. A package that the command names is fetched when it is used."""

    def __init__(self, given: Mapping[str, pathlib.Path]):
        self._given = given
        variables = filter(lambda name: name.startswith(_PACKAGE_VARIABLE), sorted(os.environ))
        self._variables = {variable.removeprefix(_PACKAGE_VARIABLE): variable for variable in variables}

    def __getitem__(self, name: str) -> pathlib.Path:
        if name in self._given:
            return self._given[name]
        root = locate.of_environment(self._variables[name])
        if root is None:
            raise RunError(f"package {name}", "is not among the files of this command", "Give --package=NAME=FOLDER")
        return root if root.is_dir() else root.parent

    def __contains__(self, name: object) -> bool:
        return name in self._given or name in self._variables  # Without fetching it.

    def __iter__(self) -> Iterator[str]:
        return iter({**self._variables, **self._given})

    def __len__(self) -> int:
        return len(self._given.keys() | self._variables.keys())


def packages_from_flags(values: Sequence[str]) -> Mapping[str, pathlib.Path]:
    """Package name -> source tree, with those of --package. Raises: RunError: a value is not NAME=FOLDER."""
    found: dict[str, pathlib.Path] = {}
    for value in values:
        name, separator, path = value.partition("=")
        if not separator or not locate.user_path(path).is_dir():
            raise RunError(f"--package={value}", "is not NAME=FOLDER", "Give the folder of a package's sources")
        found[name] = locate.user_path(path)
    return _Packages(found)
