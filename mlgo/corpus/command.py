"""Recorded cc1 commands (.llvmcmd sections) made into commands that compile the module's bitcode anywhere.

Commands are untrusted. Options that can only change code stay. Bitcode needs no header, macro, warning or output of the
machine that recorded the command: options that only the front end uses, or that name outputs, are dropped. Everything
else is refused: it may read, write or run something (mlgo/corpus/options).
"""

import re
from collections.abc import Collection, Iterable, Sequence

from mlgo.corpus.command_length import check_length
from mlgo.corpus.options.parsing import CommandError, GivenOption, parse_command
from mlgo.corpus.options.verdict import Verdict, can_be_allowed, expanded_word, judge

__all__ = [
    "THINLTO_INDEX",
    "CommandError",
    "RefusedOptionsError",
    "carried_files",
    "compile_command",
    "paths_in",
    "portable_command",
    "refused_options",
]

#: cc1's option for the ThinLTO index of a module. It names another file for each module, so it is no part of what
#: `portable_command` keeps: the compile inserts the place of the index.
THINLTO_INDEX = "-fthinlto-index="
# Without this option, compiling a module with merged imports and an index gives an empty object and exit code 0
# (llvm/lib/LTO/LTOBackend.cpp). LLVM refuses the option when it is given twice.
_ASSUME_MERGED = "-thinlto-assume-merged"

# Files that a corpus carries for its commands (mlgo/corpus/writer.py): profiles, lists.
_CARRIED_FILE = re.compile(r"(?:^|=)(files/[0-9a-f]{16}-[^/]+)", re.DOTALL)

_SHOWN_CHARACTERS = 80

_ABSOLUTE_PATH = re.compile(r"(^|[=,:])/")


class RefusedOptionsError(CommandError):
    """A recorded command has options that may do more than change code.

    Attributes:
      options: their names.
    """

    def __init__(self, options: Sequence[str]):
        super().__init__(
            "a module's command",
            f"has {', '.join(options)}, which may do more than change code",
            f"Remove it, or, if you trust the corpus, give --allow_option='{options[0]}'"
            if all(map(can_be_allowed, options))
            else "Write the words of response files into the command: no --allow_option allows an @",
        )
        self.options = tuple(options)


def portable_command(recorded: Sequence[str], allowed: Collection[str] = ()) -> tuple[str, ...]:
    """The options in `recorded` that can only change code, in their order, without `-cc1`, input, output and action.

    Args: allowed: names of further options that are kept (mlgo/corpus/options/verdict.py, normal_name).

    Raises:
      CommandError: the last option lacks its argument.
      RefusedOptionsError: an option may do more than change code, or is unknown.
    """
    judged = [(option, judge(option, allowed)) for option in parse_command(recorded)]
    if refused := _names(option for option, verdict in judged if verdict is Verdict.REFUSED):
        raise RefusedOptionsError(refused)
    return tuple(word for option, verdict in judged if verdict is Verdict.KEPT for word in option.words)


def refused_options(recorded: Sequence[str], allowed: Collection[str] = ()) -> list[str]:
    """Names of the options for which `portable_command` refuses `recorded`, each once.

    Raises: CommandError: the last option lacks its argument.
    """
    return _names(option for option in parse_command(recorded) if judge(option, allowed) is Verdict.REFUSED)


def _names(options: Iterable[GivenOption]) -> list[str]:
    """Names for messages. A word that is no option may be anything: a part of it shows what it is."""
    names = (expanded_word(option) or option.name for option in options)
    shown = (re.sub(r"[\x00-\x1f\x7f]", "?", name) for name in names)
    return list(
        dict.fromkeys(name if len(name) <= _SHOWN_CHARACTERS else f"{name[:_SHOWN_CHARACTERS]}..." for name in shown)
    )


def paths_in(command: Iterable[str]) -> list[str]:
    """The arguments which name an absolute path: in a corpus that can be moved there is none."""
    return [argument for argument in command if _ABSOLUTE_PATH.search(argument)]


def carried_files(command: Iterable[str]) -> tuple[str, ...]:
    """The files of the corpus that a command names, as it names them: relative to the corpus. Sorted."""
    found = (_CARRIED_FILE.search(argument) for argument in command)
    return tuple(sorted({match[1] for match in found if match}))


def compile_command(
    recorded: Sequence[str],
    bitcode: str,
    output: str,
    extra_flags: Sequence[str] = (),
    thinlto_index: str | None = None,
    allowed: Collection[str] = (),
) -> list[str]:
    """Arguments for clang, program name not included, which compile `bitcode` to the object file `output`.

    Args:
      recorded: the module's command.
      bitcode, output, thinlto_index: paths as clang is to see them.
      extra_flags: cc1 flags put after the module's own, such as a problem's; trusted.
      thinlto_index: the module's ThinLTO index; the bitcode is then taken as what ThinLTO has after importing.
      allowed: see `portable_command`.

    Raises: CommandError: see `portable_command`; or the command is one of ThinLTO's and there is no index, or it is
      longer than mlgo/corpus/command_length.py allows.
    """
    # clang accepts one action only; `-emit-llvm-bc` among `extra_flags` asks for bitcode instead of an object.
    action = [] if "-emit-llvm-bc" in extra_flags else ["-emit-obj"]
    portable = portable_command(recorded, allowed)
    thinlto = _thinlto(recorded, portable, thinlto_index)
    command = ["-cc1", *portable, *thinlto, *extra_flags, *action, "-o", output, "-x", "ir", bitcode]
    check_length(command, "a module's command")
    return command


def _thinlto(recorded: Sequence[str], portable: Sequence[str], index: str | None) -> list[str]:
    if index is None:
        if any(argument.startswith(THINLTO_INDEX) for argument in recorded):
            raise CommandError(
                "a module's command",
                "needs a ThinLTO index, and the corpus is not described as one of ThinLTO",
                "extract it again with --thinlto_build=distributed",
            )
        return []
    merged = [] if _ASSUME_MERGED in portable else ["-mllvm", _ASSUME_MERGED]
    return [THINLTO_INDEX + index, *merged]
