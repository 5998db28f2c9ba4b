"""Describes a corpus: modules, bytes, options, licences, duplicates. Reads every file once."""

import collections
import dataclasses
import hashlib
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any

from mlgo.corpus import properties
from mlgo.corpus.command import CommandError, CompileCommand, paths_in
from mlgo.corpus.corpus import Corpus
from mlgo.corpus.description import UNSPECIFIED_OVERRIDE
from mlgo.corpus.level import commands_are_recorded, level_of_module
from mlgo.corpus.options.verdict import can_be_allowed
from mlgo.corpus.properties import Property
from mlgo.problems.problem import load_problem, problem_names

#: More values of one option than this are only counted: they are names of files and the like.
_MOST_SHOWN_VALUES = 8
_UNKNOWN = "unknown"


@dataclasses.dataclass(frozen=True)
class Option:
    """One option over all commands: how many modules' commands have it, and with which value ("" without one), the most
    frequent first."""

    modules: int
    values: Mapping[str, int]


@dataclasses.dataclass(frozen=True)
class Information:
    """What is in a corpus. Mappings to counts have the most frequent first."""

    path: str
    digest: str
    modules: int
    has_thinlto: bool
    command_override: tuple[str, ...] | None
    #: By kind of file; files that are one on the disk count each time.
    bytes: Mapping[str, int]
    #: By module (mlgo/corpus/properties.py).
    properties: Mapping[str, Mapping[Property, str]]
    #: Modules at each optimisation level, such as "O2" (mlgo/corpus/level.py).
    levels: Mapping[str, int]
    options: Mapping[str, Option]
    #: Module -> an absolute path that code generation reads, by its command.
    machine_paths: Mapping[str, str]
    #: Option that may do more than change code -> how many modules' commands have it.
    refused: Mapping[str, int]
    #: Module -> why its command cannot be used.
    unusable: Mapping[str, str]
    licences: Mapping[str, int]
    #: Groups of modules with the same bitcode, the names sorted.
    duplicates: tuple[tuple[str, ...], ...]
    #: How many of those modules have the command (and ThinLTO index) of an earlier one, too.
    same_object: int
    #: Bytes of bitcode beyond the first of each group.
    duplicate_bytes: int

    def to_json(self) -> dict[str, Any]:
        """For machines: every attribute under its own name, every value of every option; properties by their names."""
        by_name = {kind.name: names for kind, names in properties.by_property(self.properties).items()}
        return {**dataclasses.asdict(dataclasses.replace(self, properties={})), "properties": by_name}


def inspect(corpus: Corpus, read: Callable[[], None] = lambda: None) -> Information:
    """Reads `corpus`; `read` is called after each module. Raises: CorpusError: a file cannot be read."""
    sizes = Counter(dict.fromkeys(("bitcode", "commands", "thinlto_indices", "carried_files"), 0))
    values: dict[str, Counter[str]] = collections.defaultdict(Counter)
    levels, having, licences, refused = Counter[str](), Counter[str](), Counter[str](), Counter[str]()
    machine_paths: dict[str, str] = {}
    apart: dict[str, Mapping[Property, str]] = {}
    unusable: dict[str, str] = {}
    equal: dict[bytes, list[tuple[str, bytes]]] = collections.defaultdict(list)
    duplicate_bytes = 0
    for module in corpus.modules:
        size, command, index = module.bitcode_size, module.recorded_command, b""
        sizes["bitcode"] += size
        if corpus.command_override is None:
            sizes["commands"] += module.size(".cmd")
        if corpus.has_thinlto:
            index = module.sha256(".thinlto.bc")
            sizes["thinlto_indices"] += module.size(".thinlto.bc")
        licences[module.licence] += 1
        try:
            if command == UNSPECIFIED_OVERRIDE:
                levels[_UNKNOWN] += 1
            else:
                levels[level_of_module(module, command, commands_are_recorded(corpus))] += 1
                if of_module := properties.of_module(command, module.read_bitcode(), corpus.has_thinlto):
                    apart[module.name] = of_module
            found = set(options_of(command))
            having.update({name for name, _ in found})
            for name, value in found:
                values[name][value] += 1
            refused.update(command.refused)
            if paths := paths_in(CompileCommand(command, command.refused).portable):
                machine_paths[module.name] = paths[0]
        except CommandError as error:
            unusable[module.name] = f"{error.subject} {error.wrong}"
        group = equal[module.sha256(".bc")]
        duplicate_bytes += size if group else 0
        # A digest: the commands of 25,000 modules would take hundreds of megabytes.
        recorded = hashlib.sha256("\0".join(command).encode("utf-8", "surrogateescape"))
        recorded.update(b"\0" + index)
        group.append((module.name, recorded.digest()))
        read()
    sizes["carried_files"] = sum(corpus.size(name) for name in corpus.carried_files)
    groups = [group for group in equal.values() if len(group) > 1]
    return Information(
        path=str(corpus.path),
        digest=corpus.digest,
        modules=len(corpus.modules),
        has_thinlto=corpus.has_thinlto,
        command_override=corpus.command_override,
        bytes=dict(sizes),
        properties=apart,
        levels=_by_count(levels),
        options={name: Option(having[name], _by_count(values[name])) for name in _by_count(having)},
        machine_paths=machine_paths,
        refused=_by_count(refused),
        unusable=unusable,
        licences=_by_count(licences),
        duplicates=tuple(sorted(tuple(name for name, _ in group) for group in groups)),
        same_object=sum(len(group) - len({rest for _, rest in group}) for group in groups),
        duplicate_bytes=duplicate_bytes,
    )


def options_of(command: CompileCommand) -> Iterator[tuple[str, str]]:
    """Name and value of each option: (`-target-cpu`, `x86-64`), (`-mllvm -inline-threshold`, `5`), (`-v`, "")."""
    if command and command[0] == "-cc1":
        yield command[0], ""
    for option in command.options:
        if option.value is None:
            name, _, value = option.name.partition("=")
            yield name, value
        else:
            yield option.name.removesuffix("="), option.value


def _by_count(counter: Mapping[str, int]) -> dict[str, int]:
    return dict(sorted(counter.items(), key=lambda item: (-item[1], item[0])))


def lines(information: Information) -> Iterable[str]:
    """The information as text."""
    total = information.modules
    kind = "ThinLTO modules" if information.has_thinlto else "modules"
    yield f"corpus {information.path}"
    yield f"  digest {information.digest}"
    sizes = information.bytes
    yield f"  {total:,} {kind}: " + ", ".join(
        f"{sizes[name]:,} bytes of {name.replace('_', ' ')}" for name in sizes if sizes[name]
    )
    if information.command_override is not None:
        yield f"  one command for all of them: {' '.join(information.command_override) or '(no options)'}"
    beyond = sum(len(group) - 1 for group in information.duplicates)
    yield (
        f"duplicates: {beyond} modules have the bitcode of another one ({information.duplicate_bytes:,} bytes),"
        f" {information.same_object} of them also its command"
    )
    for group in information.duplicates[:5]:
        yield f"  {' = '.join(group[:4])}{' = ...' if len(group) > 4 else ''}"
    for name, reason in list(information.unusable.items())[:5]:
        yield f"unusable command of {name}: {reason}"
    for name, count in information.refused.items():
        how = f"unless allowed (--allow_option='{name}')" if can_be_allowed(name) else f"always ({name})"
        yield f"refused {how}: in {count:,} commands, may do more than change code"
    if information.machine_paths:
        name, path = next(iter(information.machine_paths.items()))
        count = len(information.machine_paths)
        yield f"cannot be moved: {count} commands need absolute paths, such as {path} of {name}"
    yield "optimisation levels, and how many modules:"
    yield from (f"  {count:>8,}  {_shown_level(level)}" for level, count in information.levels.items())
    for line in properties.lines(information.properties, total):
        yield f"note: {line}"
    yield "licences:"
    yield from (f"  {count:>8,}  {licence}" for licence, count in information.licences.items())
    yield "options, and in how many commands:"
    for name, option in information.options.items():
        yield f"  {option.modules:>8,}  {_option(name, option)}"


def _shown_level(level: str) -> str:
    if level == _UNKNOWN:
        return level
    fitting = [name for name in problem_names() if level in load_problem(name).levels.accepted]
    return f"-{level}, for {', '.join(fitting) or 'no problem'}"


def _option(name: str, option: Option) -> str:
    if list(option.values) == [""]:
        return name
    if len(option.values) == 1:
        return f"{name} {next(iter(option.values))}"
    if len(option.values) > _MOST_SHOWN_VALUES:
        return f"{name}: {len(option.values)} values"
    return f"{name}: " + ", ".join(f"{value or '(none)'} ({count})" for value, count in option.values.items())
