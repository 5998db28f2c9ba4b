"""Changes that a user makes to the commands of a corpus: --add_flags, --delete_flags, --replace_flags.

ml-compiler-opt's settings problem_config.flags_to_add, flags_to_delete and flags_to_replace, applied to options as cc1
parses them. The changed command is judged like a recorded one (mlgo/corpus/command.py). A file that a changed option
names, such as a profile, becomes a carried file: compiles find it everywhere, and its content is a part of the digest.
"""

import dataclasses
import hashlib
import pathlib
import re
from collections.abc import Callable, Mapping, Sequence

from mlgo.corpus.description import FILES_FOLDER
from mlgo.corpus.options import clang_rules, llvm_rules
from mlgo.corpus.options.parsing import LLVM, CommandError, GivenOption, parse_command
from mlgo.corpus.options.verdict import CARRIED_FILE
from mlgo.run.exit_codes import RunError
from mlgo.run.regular_file import open_regular

_THINLTO_INDEX = "-fthinlto-index"
_UNNAMEABLE = re.compile(r"[\x00-\x1f/]")


@dataclasses.dataclass(frozen=True)
class CommandChanges:
    """What becomes of every command."""

    #: Words after the command's own.
    added: tuple[str, ...] = ()
    #: Names of options that are left out with their values, with or without "="; LLVM's without -mllvm.
    deleted: frozenset[str] = frozenset()
    #: Name of an option -> its new value; every command has the option.
    replaced: Mapping[str, str] = dataclasses.field(default_factory=dict)
    #: Carried file, as `added` and `replaced` name it -> the user's file.
    files: Mapping[str, pathlib.Path] = dataclasses.field(default_factory=dict)

    def __bool__(self) -> bool:
        return bool(self.added or self.deleted or self.replaced)

    def apply(self, command: Sequence[str]) -> tuple[str, ...]:
        """`command`, with or without -cc1, as it is compiled.
        Raises: CommandError: an option to replace is missing or has no value, or the last option lacks its argument."""
        words = list(command[:1]) if tuple(command[:1]) == ("-cc1",) else []
        left = set(self.replaced)
        for option in parse_command(command):
            names = _names(option)
            if names & self.deleted:
                continue
            key = next(iter(names & self.replaced.keys()), None)
            words += option.words if key is None else _with_value(option, self.replaced[key])
            left.discard(key or "")
        if left:
            raise CommandError("a module's command", f"has no {min(left)} to replace", "Remove it from --replace_flags")
        return (*words, *self.added)


def command_changes(
    add: Sequence[str], delete: Sequence[str], replace: Mapping[str, str], user_path: Callable[[str], pathlib.Path]
) -> CommandChanges:
    """The changes that a user asks for.

    Args:
      add: words; an option of LLVM is two, "-mllvm" and the option.
      user_path: the absolute path of what a user names.

    Raises: RunError: flags contradict each other, name the ThinLTO index, or name a file that cannot be read.
    """
    deleted, replaced = frozenset(map(_key, delete)), {_key(name): value for name, value in replace.items()}
    try:
        added = list(parse_command(add))
    except CommandError as error:
        raise RunError("--add_flags", f"ends after {add[-1]}, which needs an argument", "Give the argument") from error
    given = {name for option in added for name in _names(option)}
    for first, second, flags in (
        (given, replaced.keys(), "--add_flags and --replace_flags"),
        (given, deleted, "--add_flags and --delete_flags"),
        (deleted, replaced.keys(), "--delete_flags and --replace_flags"),
    ):
        if both := sorted(first & second):
            raise RunError(flags, f"both name {both[0]}", "Give --replace_flags to change a value")
    if _THINLTO_INDEX in given | deleted | replaced.keys():
        raise RunError(_THINLTO_INDEX, "is set for each module by the compile", "Remove it from the flags")
    files: dict[str, pathlib.Path] = {}

    def carried(prefix: str, value: str) -> str:
        path = value.removeprefix(prefix)
        if not path or CARRIED_FILE.fullmatch(path):
            return value
        name = _carried_name(user_path(path))
        files[name] = user_path(path)
        return prefix + name

    words: list[str] = []
    for option in added:
        prefix = _file_prefix(_names(option))
        changed = option.value is not None and prefix is not None
        words += _with_value(option, carried(prefix or "", option.value or "")) if changed else option.words
    for name, value in replaced.items():
        if (prefix := _file_prefix({name})) is not None:
            replaced[name] = carried(prefix, value)
    return CommandChanges(tuple(words), deleted, replaced, files)


def _key(name: str) -> str:
    return name.strip().removeprefix(f"{LLVM} ").partition("=")[0]


def _names(option: GivenOption) -> set[str]:
    """What a user may call the option."""
    name = option.name.removeprefix(f"{LLVM} ")
    return {name, name.partition("=")[0]}


def _with_value(option: GivenOption, value: str) -> tuple[str, ...]:
    if option.words[0] == LLVM:
        return (LLVM, f"{option.name.removeprefix(f'{LLVM} ').partition('=')[0]}={value}")
    if option.clang is None and "=" in option.name:
        return (f"{option.name.partition('=')[0]}={value}",)
    if option.value is None:
        raise CommandError("a module's command", f"has {option.name}, which has no value to replace", "Use other flags")
    return (option.name, value) if len(option.words) > 1 else (option.name + value,)


def _file_prefix(names: set[str]) -> str | None:
    """What stands before the file that an option of one of `names` reads; None: it reads none."""
    for name in names:
        for known in (name, f"{name}="):
            if known in clang_rules.READS:
                return clang_rules.READS[known]
        if name.lstrip("-") in llvm_rules.READS:
            return ""
    return None


def _carried_name(path: pathlib.Path) -> str:
    try:
        with open_regular(path) as descriptor, open(descriptor, "rb", closefd=False) as file:
            digest = hashlib.file_digest(file, "sha256").hexdigest()
    except OSError as error:
        wrong = f"cannot be read: {error.strerror}"
        raise RunError(f"file {path}", wrong, "Give the file that the flag needs") from error
    return f"{FILES_FOLDER}/{digest[:16]}-{_UNNAMEABLE.sub('_', path.name)}"
