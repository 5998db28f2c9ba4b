"""Command lines of ml-compiler-opt's documents as command lines of ours: --gin_files and --gin_bindings of its settings
become flags and settings of ours.

A gin file of ml-compiler-opt is read where it exists. Where it does not, because there is no checkout, its name stands
for our settings of the papers' sizes (mlgo/learning/algorithms/*/papers_*.gin). Nothing of it is run or imported.
"""

import dataclasses
import itertools
import math
import os
import pathlib
import re
import shlex
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from typing import Any

from mlgo.flags import peer_settings
from mlgo.flags.peer_settings import Flag, NoEffect, Only, Setting
from mlgo.run.exit_codes import RunError
from mlgo.run.gin_text import MOST_BYTES, REMEDY, Binding, Import, Include, Reference, parse
from mlgo.run.regular_file import read_text

#: Files that one file includes, directly or not; ml-compiler-opt's include three.
_MOST_INCLUDES = 32
#: Modules that ml-compiler-opt's files import, so that their settings exist. Nothing is imported.
_IMPORTED = re.compile(r"(compiler_opt|tf_agents|gin\.tf)(\..*)?")


def bindings_of_file(path: pathlib.Path, locate: Callable[[str], pathlib.Path | None]) -> list[Binding]:
    """The settings in a gin file and in the files that it includes, in their order.

    Args: locate: the file that a name in `include` stands for; None: there is none.
    Raises: RunError: a file cannot be read, is not gin, imports a module that is not ml-compiler-opt's, or includes
      itself or too many files.
    """
    includes = itertools.count(1)

    def bindings(path: pathlib.Path, inside: tuple[pathlib.Path, ...]) -> Iterator[Binding]:
        source, inside = f"gin file ({path})", (*inside, path)
        for statement in _statements(read_text(path, MOST_BYTES, "gin file", REMEDY), source):
            if isinstance(statement, Binding):
                yield statement
                continue
            name, number = statement.filename, next(includes)
            found = locate(name) or path.parent / pathlib.PurePosixPath(name).name
            if found in inside:
                raise RunError(source, f"includes {name!r}, which includes it", "Remove the circle")
            if number > _MOST_INCLUDES:
                raise RunError(source, f"includes {name!r}, the file number {number}", "Include fewer files")
            yield from bindings(found, inside)

    return list(bindings(path, ()))


def bindings_of_flags(values: Iterable[str]) -> list[Binding]:
    """The settings in values of --gin_bindings. Raises: RunError: one is not gin."""
    found = [each for value in values for each in _statements(value, f"--gin_bindings={value}")]
    return [each for each in found if isinstance(each, Binding)]


def _statements(text: str, source: str) -> Iterator[Binding | Include]:
    for statement in parse(text, source):
        if not isinstance(statement, Import):
            yield statement
        elif not _IMPORTED.fullmatch(statement.module):
            raise RunError(source, f"imports the module {statement.module}, which would run it", REMEDY)


_FILES, _BINDINGS = "gin_files", "gin_bindings"
#: A file of ml-compiler-opt, by its place in a checkout.
_PEERS_FILE = re.compile(
    r"(?:.*/)?compiler_opt/rl/(inlining|regalloc|regalloc_priority)/gin_configs/(\w+)\.gin", re.DOTALL
)
#: Folder of such files -> our problem.
_PROBLEMS = dict(zip(("inlining", "regalloc", "regalloc_priority"), peer_settings.PROBLEMS.values(), strict=True))
#: Name of a file -> the agent it configures; "": none.
_AGENTS = {
    "common": "",
    "network": "",
    "ppo_nn_agent": "ppo",
    "behavioral_cloning_nn_agent": "bc",
    "dqn_nn_agent": "dqn",
}
#: ml-compiler-opt's defaults for every problem (common.gin).
_DELETED = "-split-dwarf-file -split-dwarf-output --warning-suppression-mappings"
_LEARNERS = pathlib.Path(__file__).parent.parent / "learning" / "algorithms"
_SEQUENCE = ("train_eval.batch_size", "train_eval.train_sequence_length")
_MINIBATCH = {"ppo": "PpoConfig.minibatch", "bc": "BcConfig.minibatch", "dqn": "DqnConfig.minibatch"}


@dataclasses.dataclass(frozen=True)
class Translated:
    """A command line of ours. Attributes: notes: a line for each reason why settings have no effect."""

    arguments: list[str]
    notes: list[str]


def translated(
    arguments: Sequence[str], defined: Collection[str], user_path: Callable[[str], pathlib.Path]
) -> Translated:
    """The command line `arguments` without settings of ml-compiler-opt. Flags that the user gives win over those.

    Args: defined: names of the command's flags; user_path: the absolute path of what a user names.
    Raises: RunError: a file or binding cannot be read, or a setting of ml-compiler-opt is not possible here.
    """
    kept, given = _split(arguments[1:])
    if not given[_FILES] and not given[_BINDINGS]:
        return Translated(list(arguments), [])
    learns = "validation_modules" in defined
    agent, flags, files, unchanged = "", list[str](), list[str](), list[str]()
    bindings: list[Binding] = []
    for name in given[_FILES]:
        path, match = user_path(name), _PEERS_FILE.fullmatch(name)
        if match and not path.exists():
            problem, agent = _PROBLEMS[match[1]], _known_agent(name, match[2]) or agent
            papers = _papers(problem, agent)
            flags += [f"--problem={problem}", f"--delete_flags={_DELETED}"]
            if learns and papers:
                files.append(str(papers))
            continue
        found = bindings_of_file(path, lambda name: _existing(user_path(name))) if os.path.isfile(path) else []
        if _has_peers(found):
            bindings += found
        else:
            files.append(name)
    for value in given[_BINDINGS]:
        if _has_peers(found := bindings_of_flags([value])):
            bindings += found
        else:
            unchanged.append(value)
    peers = {binding.key: binding for binding in bindings if peer_settings.is_peers(binding.key)}
    ours = [binding for binding in bindings if binding.key not in peers]
    more, settings, notes = _Translation(peers, agent, user_path).result()
    if not learns and (files or (own := [*ours, *bindings_of_flags(unchanged)])):
        subject = f"--gin_files={files[0]}" if files else own[0].source
        raise RunError(subject, "has settings of a training, and this command does not train", "Remove it")
    if agent not in ("", "bc") and "train_eval.agent_config_type" not in peers:
        more.append(f"--algorithm={agent}")
    flags = [flag for flag in [*flags, *more] if flag.removeprefix("--").partition("=")[0] in defined]
    settings = settings if learns else []
    settings += [f"{binding.key} = {binding.value!r}" for binding in ours]
    passed = [f"--{_FILES}={name}" for name in files] + [f"--{_BINDINGS}={setting}" for setting in settings]
    passed += [f"--{_BINDINGS}={value}" for value in unchanged]
    return Translated([arguments[0], *flags, *passed, *kept], notes)


def _split(words: Sequence[str]) -> tuple[list[str], dict[str, list[str]]]:
    """Other words, and the values of the two flags."""
    kept: list[str] = []
    given: dict[str, list[str]] = {_FILES: [], _BINDINGS: []}
    rest = iter(words)
    for word in rest:
        if word == "--":
            return [*kept, word, *rest], given
        name, separator, value = word.removeprefix("-").removeprefix("-").partition("=")
        if not word.startswith("-") or name not in given:
            kept.append(word)
        elif separator:
            given[name].append(value)
        elif (following := next(rest, None)) is not None:
            given[name].append(following)
        else:
            kept.append(word)  # absl says that the value is missing.
    return kept, given


def _has_peers(bindings: Iterable[Binding]) -> bool:
    return any(peer_settings.is_peers(binding.key) for binding in bindings)


def _existing(path: pathlib.Path) -> pathlib.Path | None:
    # Not `path.is_file()`, which raises for a name that is too long.
    return path if os.path.isfile(path) else None


def _known_agent(name: str, stem: str) -> str:
    if stem not in _AGENTS:
        wrong = "is a file of ml-compiler-opt that does not exist, and has no counterpart here"
        raise RunError(f"--{_FILES}={name}", wrong, f"Give the path of the file, or one of {', '.join(_AGENTS)}")
    return _AGENTS[stem]


def _papers(problem: str, agent: str) -> pathlib.Path | None:
    """Our settings at the papers' sizes; cloning's are with PPO's."""
    folder = _LEARNERS / {"ppo": "ppo", "bc": "ppo", "dqn": "dqn"}.get(agent, "none")
    short = problem.removeprefix("regalloc_").removesuffix("_for_size")
    return _existing(folder / f"papers_{short}.gin")


class _Translation:
    """What the settings of ml-compiler-opt, the last one of each name, stand for."""

    def __init__(self, given: Mapping[str, Binding], agent: str, user_path: Callable[[str], pathlib.Path]):
        self._given = given
        self._macros = {key: binding.value for key, binding in given.items() if "." not in key}
        self._user_path = user_path
        chosen = self._value("train_eval.agent_config_type")
        self._agent = agent if chosen is None else peer_settings.AGENTS.get(getattr(chosen, "name", ""), "")
        self._no_effect: dict[str, list[str]] = {}

    def _value(self, key: str) -> Any:
        return peer_settings.resolved(self._given[key].value, self._macros) if key in self._given else None

    def result(self) -> tuple[list[str], list[str], list[str]]:
        """(flags, settings of ours, notes). Raises: RunError: a setting is not possible here."""
        flags: list[str] = []
        settings: list[str] = []
        for key, binding in self._given.items():
            value, meaning = self._value(key), peer_settings.meaning_of(key)
            if isinstance(meaning, Flag):
                if not peer_settings.is_among(value, meaning.empty):
                    flags += self._flags(meaning.name, value, binding)
            elif isinstance(meaning, Setting):
                if self._agent in meaning.by_agent:
                    settings.append(f"{meaning.by_agent[self._agent]} = {value!r}")
                else:
                    self._note(key, "it belongs to the learner, and no known agent is chosen")
            elif isinstance(meaning, NoEffect):
                if meaning.reason and not peer_settings.is_among(value, meaning.silent):
                    self._note(key, meaning.reason)
            elif isinstance(meaning, Only):
                if not peer_settings.is_among(value, meaning.values):
                    raise _refused(binding, value, meaning.reason)
            else:
                raise _refused(binding, value, "no setting here corresponds to it")
        if self._agent and (sizes := [self._value(key) for key in _SEQUENCE if self._value(key) is not None]):
            product = math.prod(size if isinstance(size, int) else 0 for size in sizes)
            settings.append(f"{_MINIBATCH[self._agent]} = {product}")
        if self._agent == "ppo" and "train_eval.moving_average_decay_rate" in self._given:
            settings += ["PpoConfig.baseline = 'moving_average'", "PpoConfig.samples_per_module = 1"]
        notes = [f"{', '.join(keys)}: no effect, for {reason}" for reason, keys in self._no_effect.items()]
        return flags, settings, notes

    def _note(self, key: str, reason: str) -> None:
        self._no_effect.setdefault(reason, []).append(key)

    def _flags(self, name: str, value: Any, binding: Binding) -> list[str]:
        if name == "problem":
            return [f"--problem={_named(peer_settings.PROBLEMS, value, binding)}"]
        if name == "algorithm":
            agent = _named(peer_settings.AGENTS, value, binding)
            return [] if agent == "bc" else [f"--algorithm={agent}"]
        if name in ("add_flags", "delete_flags"):
            words = [value] if isinstance(value, str) else value
            if not isinstance(words, (tuple, list)) or not all(isinstance(word, str) for word in words):
                raise _refused(binding, value, "it is a tuple of texts")
            return [f"--{name}={shlex.join(words)}"]
        if name == "replace_flags":
            if not isinstance(value, dict) or not all(isinstance(each, str) for item in value.items() for each in item):
                raise _refused(binding, value, "it is a dictionary of texts")
            return [f"--replace_flags={option}={new}" for option, new in value.items()]
        if name == "vocabulary" and not os.path.isdir(self._user_path(str(value))):
            self._note(binding.key, "the folder does not exist, and a vocabulary is made from the trace")
            return []
        if isinstance(value, Reference) or not isinstance(value, (str, int)):
            raise _refused(binding, value, f"--{name} takes a text or a number")
        return [f"--{name}={value}"]


def _named(names: Mapping[str, str], value: Any, binding: Binding) -> str:
    found = names.get(value.name) if isinstance(value, Reference) else None
    if found is None:
        raise _refused(binding, value, f"known are {', '.join('@' + name for name in names)}")
    return found


def _refused(binding: Binding, value: Any, reason: str) -> RunError:
    shown = f"@{value.name}" if isinstance(value, Reference) else repr(value)
    return RunError(binding.source, f"sets {binding.key} to {shown:.80}, and {reason}", "Remove or change the setting")
