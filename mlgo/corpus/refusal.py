"""Finds, before the first compile, the options for which a corpus's commands are refused.

Every compile refuses them by itself (mlgo/corpus/command.py). That would be the first module that has one, perhaps
hours into a run, and one option at a time.
"""

import dataclasses
from collections.abc import Mapping

from mlgo.corpus.command import CommandError
from mlgo.corpus.corpus import Corpus, CorpusError
from mlgo.corpus.description import UNSPECIFIED_OVERRIDE
from mlgo.corpus.options.verdict import can_be_allowed

_SHOWN = 8


@dataclasses.dataclass(frozen=True)
class Refusal:
    """Where a refused option is found.

    Attributes:
      modules: how many modules' commands have it.
      first: the first of them, by name.
    """

    modules: int
    first: str


def find_refusals(corpus: Corpus) -> dict[str, Refusal]:
    """The options for which commands of `corpus` are refused, by name, in the order in which they are found.

    Raises: CorpusError: a command cannot be read, or its last option lacks its argument.
    """
    found: dict[str, Refusal] = {}
    # One command for all modules is judged once.
    modules = corpus.modules if corpus.command_override is None else corpus.modules[:1]
    for module in modules:
        try:
            refused = module.command.refused
        except CommandError as error:
            raise CorpusError(f"{error.subject}, of {module.name}", error.wrong, error.remedy) from error
        for option in refused:
            before = found.get(option)
            found[option] = Refusal(1, module.name) if before is None else Refusal(before.modules + 1, before.first)
    if corpus.command_override is not None:
        found = {option: Refusal(len(corpus.modules), refusal.first) for option, refusal in found.items()}
    return found


def describe(refusals: Mapping[str, Refusal]) -> str:
    """The options for a message: "-mllvm -stats (2 modules, such as a.c)"."""
    shown = [
        f"{option} ({refusal.modules} modules, such as {refusal.first})"
        if refusal.modules > 1
        else f"{option} ({refusal.first})"
        for option, refusal in list(refusals.items())[:_SHOWN]
    ]
    return ", ".join(shown) + (f" and {len(refusals) - _SHOWN} more" if len(refusals) > _SHOWN else "")


def notes(corpus: Corpus) -> list[str]:
    """What whoever makes `corpus` should know about its commands: a line, or none if nothing is refused.

    Raises: CorpusError: a command cannot be read, or its last option lacks its argument.
    """
    if corpus.command_override == UNSPECIFIED_OVERRIDE or not (refusals := find_refusals(corpus)):
        return []
    flags = _flags(refusals)
    rest = f"whoever compiles the corpus must allow them ({flags})" if flags else "no compile takes them"
    return [f"note: commands have options that may do more than change code: {describe(refusals)}; {rest}"]


def check_commands(corpus: Corpus) -> None:
    """Raises: CorpusError: commands of `corpus` have options that are refused; the message lists them."""
    if not (refusals := find_refusals(corpus)):
        return
    flags = _flags(refusals)
    raise CorpusError(
        f"corpus {corpus.path}",
        f"has commands with options that may do more than change code: {describe(refusals)}",
        "Build and extract it without them" + (f", or, if you trust the corpus, give {flags}" if flags else ""),
    )


def _flags(refusals: Mapping[str, Refusal]) -> str:
    """The flags that help; "" if one of the options cannot be allowed."""
    if not all(map(can_be_allowed, refusals)):
        return ""
    return " ".join(f"--allow_option='{option}'" for option in list(refusals)[:_SHOWN])
