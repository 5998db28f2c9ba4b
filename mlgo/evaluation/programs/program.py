"""Descriptions of programs: sources, flags, inputs and runs. README.md documents the JSON fields."""

import dataclasses
import os
import pathlib
import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from mlgo.corpus import contained_files
from mlgo.evaluation.programs.commands import CompileCommands, level_of, load_commands
from mlgo.evaluation.programs.description import REMEDY, read_description
from mlgo.run.exit_codes import RunError
from mlgo.run.manifest import digest_of_bytes, digest_of_file, digest_of_json

_NAME = re.compile(r"(?!\.{1,2}\Z)[A-Za-z0-9_.-]+")
#: Of an input, which may lie in folders.
_INPUT = re.compile(r"[A-Za-z0-9_./-]+")
_C_PLUS_PLUS = frozenset((".cc", ".cpp", ".cxx", ".C"))
#: Suffixes of files that sources may include.
_INCLUDED = frozenset((".h", ".hh", ".hpp", ".hxx", ".inc", ".def", ".inl", ".ipp", ".c", ".cc", ".cpp", ".y", ".S"))


@dataclasses.dataclass(frozen=True)
class ProgramRun:
    """One run of a program. All runs of a program use one folder, which initially holds the inputs."""

    name: str
    arguments: tuple[str, ...]
    stdin: str | None  #: name of the input for its standard input; None: empty.
    outputs: tuple[str, ...]  #: files that it writes; they and its standard output must be equal under all compilers.
    #: further arguments with which Google Benchmark in the program takes its own times; empty: it takes none.
    benchmark: tuple[str, ...] = ()

    def to_json(self) -> dict[str, Any]:
        """Its fields; an empty `benchmark` is left out, so that digests of programs without it stay what they were."""
        return {name: value for name, value in dataclasses.asdict(self).items() if value or name != "benchmark"}


@dataclasses.dataclass(frozen=True)
class Training:
    """What an instrumented build does for a profile. Attributes: as those of `Program`; `inputs` are not its inputs."""

    inputs: Mapping[str, tuple[pathlib.Path, ...]]
    runs: tuple[ProgramRun, ...]


@dataclasses.dataclass(frozen=True)
class Program:
    """A program and its runs."""

    name: str
    about: str
    root: pathlib.Path  #: source tree; compilers run here.
    sources: tuple[str, ...]  #: paths relative to `root`, sorted.
    mains: tuple[pathlib.Path, ...]
    #: folders relative to `root`, absolute (such as a build's generated headers), or in another package as
    #: "@NAME/folder".
    includes: tuple[str, ...]
    defines: tuple[str, ...]  #: macros without -D.
    flags: tuple[str, ...]
    libraries: tuple[str, ...]  #: flags of the linker, such as "-lm".
    inputs: Mapping[str, tuple[pathlib.Path, ...]]  #: name of an input -> the files that it is concatenated from.
    runs: tuple[ProgramRun, ...]
    #: package name -> source tree, for `includes`.
    packages: Mapping[str, pathlib.Path] = dataclasses.field(default_factory=dict)
    #: source -> its options from a compilation database; then there are no includes and defines.
    options: Mapping[str, tuple[str, ...]] = dataclasses.field(default_factory=dict)
    #: source -> folder in which it is compiled, where that is not `root`.
    directories: Mapping[str, pathlib.Path] = dataclasses.field(default_factory=dict)
    fingerprints: tuple[pathlib.Path, ...] = ()  #: files that change whenever the headers of such sources change.
    levels: tuple[str, ...] = ()  #: optimisation levels of the database's commands; an evaluation compiles at its own.
    training: Training | None = None  #: runs for a profile; None: there are none.
    #: optimisation level -> profile that compiles at it use, made by llvm-profdata.
    profiles: Mapping[str, pathlib.Path] = dataclasses.field(default_factory=dict)
    #: version script of the shared library that its sources are; None: it exports what is visible. No part of the
    #: digest, because the program does not depend on it.
    exports: pathlib.Path | None = None

    def level_note(self, measured: Sequence[str]) -> str | None:
        """A line for the user when its build has other optimisation levels than `measured`, else None."""
        if not set(self.levels) - set(measured):
            return None
        given, here = ", ".join(self.levels), " and ".join(measured)
        return f"{self.name}: its compile commands are at {given}; here it is compiled at {here}, as all programs are"

    def units(self) -> list[tuple[str, str]]:
        """(path for the compiler, name of the object) of every compiled file, in link order."""
        paths = [*self.sources, *(str(path) for path in self.mains)]
        return [(path, f"{index:04}_{pathlib.PurePath(path).stem}.o") for index, path in enumerate(paths)]

    @property
    def has_c_plus_plus(self) -> bool:
        return any(is_c_plus_plus(path) for path, _ in self.units())

    def compile_flags(self, path: str) -> list[str]:
        if path in self.options:
            return [*self.options[path], *self.flags]
        includes = (f"-I{self._spelled(folder)}" for folder in self.includes)
        return ["-DNDEBUG", *(f"-D{define}" for define in self.defines), *includes, *self.flags]

    def directory_of(self, path: str) -> pathlib.Path:
        return self.directories.get(path, self.root)

    def digest(self) -> str:
        """Digest of description, sources, files that they may include, and inputs."""
        fields = (self.sources, self.includes, self.defines, self.flags, self.libraries)
        parts = [digest_of_json([self.name, *map(list, fields), [run.to_json() for run in self.runs]])]
        if self.options:
            parts.append(digest_of_json({path: list(words) for path, words in self.options.items()}))
        if self.directories:
            parts.append(digest_of_json({path: str(folder) for path, folder in self.directories.items()}))
        found = sorted(self.profiles.items())
        own = {self.root / path for path in self.sources} | (set() if self.options else self._included())
        found += [(self._place(path), path) for path in sorted(own)]
        for folder in (pathlib.Path(self._spelled(folder)) for folder in self.includes if folder.startswith("@")):
            found += [(str(path.relative_to(folder)), path) for path in sorted(_included_in(folder, whole=True))]
        inputs = (path for name in sorted(self.inputs) for path in self.inputs[name])
        found += [(path.name, path) for path in (*self.mains, *self.fingerprints, *inputs)]
        parts += [f"{name} {digest_of_file(path)}\n" for name, path in found]
        return digest_of_bytes("".join(parts).encode())

    def _included(self) -> set[pathlib.Path]:
        folders = {self.root / folder for folder in self.includes if not folder.startswith("@")}
        folders |= {(self.root / path).parent for path in self.sources}
        # Include folders count with their subfolders: "include/box2d/box2d.h" is found from "include".
        return {path for folder in folders for path in _included_in(folder, whole=folder != self.root)}

    def _place(self, path: pathlib.Path) -> str:
        """`path` relative to the root, also where it lies outside: build systems name sources by absolute paths."""
        return str(path.relative_to(self.root) if path.is_relative_to(self.root) else os.path.relpath(path, self.root))

    def _spelled(self, folder: str) -> str:
        if not folder.startswith("@"):
            return folder
        package, _, rest = folder[1:].partition("/")
        return str(self.packages[package] / rest)

    def write_inputs(self, folder: pathlib.Path) -> None:
        for name, parts in self.inputs.items():
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            (folder / name).write_bytes(b"".join(path.read_bytes() for path in parts))


def _included_in(folder: pathlib.Path, whole: bool) -> list[pathlib.Path]:
    """Files in `folder` that a source may include. Args: whole: whether subfolders count."""
    paths = folder.rglob("*") if whole else folder.glob("*")
    return [path for path in paths if path.suffix in _INCLUDED and path.is_file()]


def is_c_plus_plus(path: str) -> bool:
    return pathlib.PurePath(path).suffix in _C_PLUS_PLUS


def load_program(path: pathlib.Path, packages: Mapping[str, pathlib.Path]) -> Program:
    """The program that the JSON file `path` describes.

    Args: packages: name that a description may give as "package" -> its source tree.
    Raises: RunError: the file is not a description, or names a file that does not exist.
    """
    return _Reader(f"program {path}", read_description(path), path.parent).program(packages)


class _Reader:
    def __init__(self, subject: str, content: Mapping[str, Any], folder: pathlib.Path):
        self._subject, self._content, self._folder = subject, dict(content), folder

    def program(self, packages: Mapping[str, pathlib.Path]) -> Program:
        name = self._text("name")
        if not _NAME.fullmatch(name):
            raise self._wrong(f"has the name {name!r}; letters, digits and _.- are usable")
        of_build: dict[str, Any] = {}
        if (commands := self._commands()) is None:
            root = self._root(packages)
            sources = self._found(root, "sources", self._texts("sources"), self._texts("exclude"))
        else:
            root, sources = commands.directory, tuple(commands.options)
            of_build = {"options": commands.options, "directories": commands.directories, "levels": commands.levels}
            of_build["fingerprints"] = tuple(map(self._beside, self._texts("fingerprints")))
            if missing := [path for path in sources if not (root / path).is_file()]:
                raise self._wrong(f"has commands that compile {missing[0]!r}, which is not in {root}")
        mains = tuple(self._beside(main) for main in self._texts("mains"))
        if not sources and not mains:
            raise self._wrong("names no sources")
        inputs = self._inputs(root)
        runs = self._runs(inputs)
        includes = self._texts("includes")
        used = {folder[1:].partition("/")[0] for folder in includes if folder.startswith("@")}
        if unknown := used - packages.keys():
            known = ", ".join(sorted(packages)) or "none"
            raise self._wrong(f"includes from the package {min(unknown)!r}; known: {known}")
        self._check_folders(root, includes, packages)
        program = Program(
            name=name,
            about=self._text("about", ""),
            root=root,
            sources=sources,
            mains=mains,
            includes=includes,
            defines=self._texts("defines"),
            flags=self._texts("flags"),
            libraries=self._texts("libraries"),
            inputs=inputs,
            runs=runs,
            packages={name: packages[name] for name in sorted(used)},
            training=self._training(root, inputs, runs),
            exports=self._exports(root),
            **of_build,
        )
        for field in ("exam", "extra", "slow"):  # The catalogue reads them.
            self._content.pop(field, None)
        if self._content:
            raise self._wrong(f"has the unknown field {min(self._content)!r}")
        if (level := level_of(program.flags)) is not None:
            raise self._wrong(f"has the level {level} in `flags`; sizes are measured at -Oz, instructions at -O2")
        return program

    def _exports(self, root: pathlib.Path) -> pathlib.Path | None:
        name = self._text("exports", "")
        if name and not (root / name).is_file():
            raise self._wrong(f"has the version script {name!r} in `exports`, which is not in {root}")
        return root / name if name else None

    def _check_folders(self, root: pathlib.Path, includes: Iterable[str], packages: Mapping[str, pathlib.Path]) -> None:
        for folder in includes:
            package, _, rest = folder[1:].partition("/")
            path = packages[package] / rest if folder.startswith("@") else root / folder
            if not path.is_dir():
                wrong = f"has the folder {folder!r} in `includes`, but {path} is not a folder"
                remedy = f"Give a folder relative to {root}, an absolute one, or @NAME/FOLDER with --package=NAME=TREE;"
                raise RunError(self._subject, wrong, f"{remedy} build the project first if it generates headers")

    def _commands(self) -> CompileCommands | None:
        if "compile_commands" not in self._content:
            return None
        if more := {"defines", "exclude", "includes", "mains", "package", "root", "sources"} & self._content.keys():
            raise self._wrong(f"has both compile_commands and {min(more)!r}")
        return load_commands(self._beside(self._text("compile_commands")), self._texts("objects"))

    def _root(self, packages: Mapping[str, pathlib.Path]) -> pathlib.Path:
        if "package" not in self._content:
            root = (self._folder / self._text("root", ".")).absolute()
            if not root.is_dir():
                raise self._wrong(f"has its root at {root}, where no folder is")
            return root
        package = self._text("package")
        if package not in packages:
            raise self._wrong(f"is built from the package {package!r}; known: {', '.join(sorted(packages)) or 'none'}")
        return packages[package]

    def _training(
        self, root: pathlib.Path, inputs: Mapping[str, tuple[pathlib.Path, ...]], runs: tuple[ProgramRun, ...]
    ) -> Training | None:
        given = self._content.pop("training", None)
        if given is None:
            return None
        if not isinstance(given, dict) or not given:
            raise self._wrong("has a `training` that is not a JSON object with inputs or runs")
        reader = _Reader(self._subject, given, self._folder)
        # Runs of its own with inputs of their own have nothing of what is measured.
        others = reader._inputs(root) if {"inputs", "runs"} <= given.keys() else {**inputs, **reader._inputs(root)}
        training = Training(others, reader._runs(others) if "runs" in given else runs)
        if reader._content:
            raise self._wrong(f"has a `training` with the unknown field {min(reader._content)!r}")
        if training == Training(inputs, runs):
            raise self._wrong("has a `training` that is what is measured")
        return training

    def _runs(self, inputs: Mapping[str, Any]) -> tuple[ProgramRun, ...]:
        given = self._content.pop("runs", None)
        if not isinstance(given, list) or not given or not all(isinstance(run, dict) for run in given):
            raise self._wrong("has no list of runs")
        runs = []
        for run in given:
            reader = _Reader(self._subject, run, self._folder)
            stdin = reader._text("stdin", "") or None
            texts = map(reader._texts, ("outputs", "benchmark"))
            runs.append(ProgramRun(reader._text("name"), reader._texts("arguments"), stdin, *texts))
            if reader._content:
                raise self._wrong(f"has a run with the unknown field {min(reader._content)!r}")
            if stdin is not None and stdin not in inputs:
                raise self._wrong(f"has a run that reads {stdin!r}, which is not an input")
        if len({run.name for run in runs}) < len(runs):
            raise self._wrong("has two runs of one name")
        return tuple(runs)

    def _inputs(self, root: pathlib.Path) -> dict[str, tuple[pathlib.Path, ...]]:
        given = self._content.pop("inputs", {})
        if not isinstance(given, dict):
            raise self._wrong("has inputs that are not a JSON object")
        found: dict[str, tuple[pathlib.Path, ...]] = {}
        for name, value in given.items():
            if not _INPUT.fullmatch(name) or contained_files.refusal(name):
                raise self._wrong(f"has an input with the name {name!r}")
            if isinstance(value, str):
                found[name] = (self._beside(value),)
            elif isinstance(value, list) and all(isinstance(pattern, str) for pattern in value):
                found[name] = tuple(root / path for path in self._found(root, f"input {name}", value, ()))
            else:
                raise self._wrong(f"has an input {name} that is neither a file nor a list of patterns")
        folders = {str(folder) for name in found for folder in pathlib.PurePosixPath(name).parents}
        if both := sorted(folders & found.keys()):
            raise self._wrong(f"has the input {both[0]!r}, which is also the folder of another")
        return found

    def _found(self, root: pathlib.Path, what: str, patterns: Iterable[str], exclude: Sequence[str]) -> tuple[str, ...]:
        def below(pattern: str) -> set[str]:
            try:
                return {path.relative_to(root).as_posix() for path in root.glob(pattern) if path.is_file()}
            except (NotImplementedError, ValueError) as error:
                raise self._wrong(f"has the pattern {pattern!r}, which is not usable: {error}") from error

        found: set[str] = set()
        for pattern in patterns:
            files_of_pattern = below(pattern)
            if not files_of_pattern:
                raise self._wrong(f"has the pattern {pattern!r} ({what}), which matches no file in {root}")
            found |= files_of_pattern
        return tuple(sorted(found - set().union(*map(below, exclude))))

    def _beside(self, name: str) -> pathlib.Path:
        path = (self._folder / name).absolute()
        if not path.is_file():
            raise self._wrong(f"names the file {name!r}, which is not in {self._folder}")
        return path

    def _text(self, field: str, default: str | None = None) -> str:
        value = self._content.pop(field, default)
        if not isinstance(value, str):
            raise self._wrong(f"has no text as {field!r}" if value is not None else f"has no field {field!r}")
        return value

    def _texts(self, field: str) -> tuple[str, ...]:
        value = self._content.pop(field, [])
        if not isinstance(value, list) or not all(isinstance(item, str) for item in value):
            raise self._wrong(f"has a field {field!r} that is not a list of texts")
        return tuple(value)

    def _wrong(self, what: str) -> RunError:
        return RunError(self._subject, what, REMEDY)
