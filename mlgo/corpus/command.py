"""Recorded cc1 commands (.llvmcmd sections) and what they become: commands that compile the module's bitcode anywhere.

Commands are untrusted. Options that can only change code stay. Bitcode needs no header, macro, warning or output of the
machine that recorded the command: options that only the front end uses, or that name outputs, are dropped. Everything
else is refused: it may read, write or run something (mlgo/corpus/options).
"""

import functools
import os
import re
from collections.abc import Collection, Iterable, Sequence

from mlgo.corpus.options import clang_rules
from mlgo.corpus.options.parsing import CommandError as CommandError
from mlgo.corpus.options.parsing import GivenOption, parse_command
from mlgo.corpus.options.verdict import Verdict, can_be_allowed, expanded_word, judge

#: cc1's option for the ThinLTO index of a module. It names another file for each module, so it is no part of
#: `CompileCommand.portable`: the compile inserts the place of the index.
THINLTO_INDEX = "-fthinlto-index="
# Without this option, compiling a module with merged imports and an index gives an empty object and exit code 0
# (llvm/lib/LTO/LTOBackend.cpp). LLVM refuses the option when it is given twice.
_ASSUME_MERGED = "-thinlto-assume-merged"

#: clang's default; a recorded command without -O is at this level.
NOT_OPTIMISED = "O0"
# getOptimizationLevel in clang/lib/Frontend/CompilerInvocation.cpp (LLVM 22.1.8); larger numbers are 3.
_LEVEL_OF_VALUE = {"": "O1", "g": "O1", "s": "Os", "z": "Oz", **{str(level): f"O{level}" for level in range(4)}}

# Files that a corpus carries for its commands (mlgo/corpus/writer.py): profiles, lists.
_CARRIED_FILE = re.compile(r"(?:^|=)(files/[0-9a-f]{16}-[^/]+)", re.DOTALL)
_ABSOLUTE_PATH = re.compile(r"(^|[=,:])/")
_SHOWN_CHARACTERS = 80

# Linux starts a program with at most 128 KiB per word and, by default, 2 MiB in all, environment and pointers to words
# included (execve(2)). Constants, because limits differ from machine to machine; they hold for a compile server too.
#: Bytes of one word without the NUL that ends it.
MOST_WORD_BYTES = 128 * 1024 - 1
#: Bytes of all words, and of a pointer and a NUL for each. A cc1 command of LLVM's own build has less than 20 KB.
MOST_BYTES, _BYTES_PER_WORD = 1024**2, 9


class RefusedOptionsError(CommandError):
    """A recorded command has options that may do more than change code."""

    def __init__(self, options: Sequence[str]):
        super().__init__(
            "a module's command",
            f"has {', '.join(options)}, which may do more than change code",
            f"Remove it, or, if you trust the corpus, give --allow_option='{options[0]}'"
            if all(map(can_be_allowed, options))
            else "Write the words of response files into the command: no --allow_option allows an @",
        )
        self.options = tuple(options)


class CompileCommand(tuple[str, ...]):
    """A module's command: the words of cc1, with or without `-cc1`, and what follows from them, parsed and judged once.
    Every attribute but the words raises CommandError where the last option lacks its argument."""

    #: Options that are kept although they may do more than change code, as `verdict.normal_name` names them.
    allowed: tuple[str, ...]

    def __new__(cls, words: Iterable[str], allowed: Collection[str] = ()) -> "CompileCommand":
        command = super().__new__(cls, words)
        command.allowed = tuple(allowed)
        return command

    def __reduce__(self):
        return CompileCommand, (tuple(self), self.allowed)

    @functools.cached_property
    def options(self) -> tuple[GivenOption, ...]:
        """The options, in their order."""
        return tuple(parse_command(self))

    @functools.cached_property
    def refused(self) -> tuple[str, ...]:
        """Names of the options for which no compile takes the command, each once."""
        return _names(option for option in self.options if judge(option, self.allowed) is Verdict.REFUSED)

    @functools.cached_property
    def portable(self) -> tuple[str, ...]:
        """The options that can only change code, in their order, without `-cc1`, input, output and action.
        Raises: RefusedOptionsError: an option may do more than change code, or is unknown."""
        if self.refused:
            raise RefusedOptionsError(self.refused)
        kept = (option for option in self.options if judge(option, self.allowed) is Verdict.KEPT)
        return tuple(word for option in kept for word in option.words)

    @functools.cached_property
    def carried_files(self) -> tuple[str, ...]:
        """The files of the corpus that the command names, as it names them: relative to the corpus. Sorted."""
        found = (_CARRIED_FILE.search(word) for word in self)
        return tuple(sorted({match[1] for match in found if match}))

    @functools.cached_property
    def level(self) -> str:
        """The optimisation level, such as "O2": that of the last -O, or NOT_OPTIMISED."""
        level = NOT_OPTIMISED
        for option in self.options:
            if option.name == "-Ofast":
                level = "O3"
            elif option.name.startswith("-O"):
                value = option.name.removeprefix("-O") + (option.value or "")
                level = _LEVEL_OF_VALUE.get(value, "O3" if value.isdigit() else f"O{value}")
        return level

    @property
    def names_thinlto_index(self) -> bool:
        return any(word.startswith(THINLTO_INDEX) for word in self)

    def places_outside(self) -> list[str]:
        """The words that name a place outside of the corpus, without text that only goes into the object."""
        options = (option for option in self.options if not clang_rules.is_text(option.name))
        return paths_in(word for option in options for word in option.words)

    def arguments(
        self, bitcode: str, output: str, extra_flags: Sequence[str] = (), thinlto_index: str | None = None
    ) -> list[str]:
        """Arguments for clang, program name not included, which compile `bitcode` to the object file `output`.

        Args:
          extra_flags: cc1 flags put after the module's own, such as a problem's; trusted.
          thinlto_index: the module's ThinLTO index; the bitcode is then taken as what ThinLTO has after importing.

        Raises: CommandError: see `portable`; or the command is one of ThinLTO's and there is no index, or it is longer
          than `check_length` allows.
        """
        # clang accepts one action only; `-emit-llvm-bc` among `extra_flags` asks for bitcode instead of an object.
        action = [] if "-emit-llvm-bc" in extra_flags else ["-emit-obj"]
        thinlto: list[str] = []
        if thinlto_index is not None:
            merged = [] if _ASSUME_MERGED in self.portable else ["-mllvm", _ASSUME_MERGED]
            thinlto = [THINLTO_INDEX + thinlto_index, *merged]
        elif self.names_thinlto_index:
            wrong = "needs a ThinLTO index, and the corpus is not described as one of ThinLTO"
            raise CommandError("a module's command", wrong, "extract it again with --thinlto_build=distributed")
        command = ["-cc1", *self.portable, *thinlto, *extra_flags, *action, "-o", output, "-x", "ir", bitcode]
        check_length(command, "a module's command")
        return command


def _names(options: Iterable[GivenOption]) -> tuple[str, ...]:
    """Names for messages. A word that is no option may be anything: a part of it shows what it is."""
    names = (re.sub(r"[\x00-\x1f\x7f]", "?", expanded_word(option) or option.name) for option in options)
    most = _SHOWN_CHARACTERS
    return tuple(dict.fromkeys(name if len(name) <= most else f"{name[:most]}..." for name in names))


def paths_in(words: Iterable[str]) -> list[str]:
    """The arguments which name an absolute path: in a corpus that can be moved there is none."""
    return [word for word in words if _ABSOLUTE_PATH.search(word)]


def check_length(words: Iterable[str], subject: str) -> None:
    """Raises: CommandError: a compiler cannot be given `words`. Args: subject: what they are, for the message."""
    lengths = [len(os.fsencode(word)) for word in words]
    remedy = "Make it shorter: an option that is repeated counts once, and long lists belong into files"
    if (longest := max(lengths, default=0)) > MOST_WORD_BYTES:
        wrong = f"has a word of {longest:,} bytes, more than the {MOST_WORD_BYTES:,} allowed"
        raise CommandError(subject, wrong, remedy)
    if (total := sum(lengths) + _BYTES_PER_WORD * len(lengths)) > MOST_BYTES:
        wrong = f"has {len(lengths):,} words, {total:,} bytes in memory, more than the {MOST_BYTES:,} allowed"
        raise CommandError(subject, wrong, remedy)
