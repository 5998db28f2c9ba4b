"""What --help prints: a command's flags in groups, in one or two lines each; absl's own (--helpfull) fill screens."""

import collections
import functools
import re
import shutil
import textwrap
from collections.abc import Callable, Iterable, Sequence
from typing import ParamSpec, TypeVar

from absl import flags

flags.disclaim_key_flags()  # A flag belongs to the command, not to the module of `flag_group`.

#: Group of the flags that no function marked with `flag_group` has defined.
OWN = "This command"
_HELP = frozenset({"--help", "-help", "-h", "--helpshort", "-helpshort"})
_WIDEST = 120
_ALIAS = re.compile(r"Alias for --(?P<name>[^ ]+)\.")
# absl adds this to the description of such a flag.
_REPEATABLE = "; repeat this option to specify a list of values"
_END_OF_SENTENCE = re.compile(r"(?<=\.)\s+")
_GROUP_OF: dict[str, str] = {}
_Parameters = ParamSpec("_Parameters")
_Result = TypeVar("_Result")


def flag_group(title: str) -> Callable[[Callable[_Parameters, _Result]], Callable[_Parameters, _Result]]:
    """Marks a function that defines flags: --help lists them under `title`. The innermost marked function decides."""

    def mark(define: Callable[_Parameters, _Result]) -> Callable[_Parameters, _Result]:
        @functools.wraps(define)
        def defining(*args: _Parameters.args, **kwargs: _Parameters.kwargs) -> _Result:
            before = set(flags.FLAGS)
            result = define(*args, **kwargs)
            for name in set(flags.FLAGS) - before:
                _GROUP_OF.setdefault(name, title)
            return result

        return defining

    return mark


def asks_for_help(arguments: Sequence[str]) -> bool:
    """Whether one of a command's arguments, without the program's name, asks for help."""
    words = arguments[: arguments.index("--")] if "--" in arguments else arguments
    return not _HELP.isdisjoint(words)


def help_text(documentation: str, own: Iterable[flags.Flag], columns: int | None = None) -> str:
    """A command's documentation and its flags. Args: columns: width of the text; None: the terminal's, at most 120."""
    width = columns or min(shutil.get_terminal_size().columns, _WIDEST)
    aliases: dict[str, list[str]] = collections.defaultdict(list)
    groups: dict[str, list[str]] = collections.defaultdict(list)
    ordered = [(flag, _ALIAS.fullmatch(flag.help)) for flag in sorted(own, key=lambda flag: flag.name)]
    for flag, alias in ordered:
        if alias:
            aliases[alias["name"]].append(flag.name)
    for flag in [flag for flag, alias in ordered if not alias]:
        groups[_GROUP_OF.get(flag.name, OWN)].append(_lines(flag, aliases[flag.name], width))
    titles = sorted(groups, key=lambda title: (title != OWN, title))
    blocks = ["\n".join([f"{title}:", *groups[title]]) for title in titles]
    last = "--helpfull lists these and the flags of libraries, with types, ranges and full descriptions."
    return "\n\n".join([documentation.strip(), *blocks, last])


def _lines(flag: flags.Flag, aliases: Sequence[str], width: int) -> str:
    text = f"  --{'[no]' if flag.boolean else ''}{flag.name}{_values(flag)}: {_short(flag)}"
    if aliases:
        text += f" Also --{', --'.join(aliases)}."
    return textwrap.fill(text, width, subsequent_indent=" " * 6, break_long_words=False, break_on_hyphens=False)


def _values(flag: flags.Flag) -> str:
    if choices := _choices(flag):
        return f"=<{'|'.join(choices)}>"
    return "" if flag.boolean else f"={flag.parser.flag_type().split()[-1].upper()}"


def _choices(flag: flags.Flag) -> Sequence[str]:
    return flag.parser.enum_values if isinstance(flag, flags.EnumFlag) else ()


def _short(flag: flags.Flag) -> str:
    """The first sentence of the description, and the default."""
    description = " ".join(flag.help.split()).removeprefix(f"<{'|'.join(_choices(flag))}>: ").removesuffix(_REPEATABLE)
    first, *others = _END_OF_SENTENCE.split(description)
    defaults = [sentence.removeprefix("Default: ") for sentence in others if sentence.startswith("Default: ")]
    if not defaults and flag.default not in (None, "", []):
        defaults = [str(flag.default)]
    return " ".join([first.rstrip("."), *[f"(default: {default.rstrip('.')})" for default in defaults]]) + "."
