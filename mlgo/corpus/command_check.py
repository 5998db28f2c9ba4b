"""Finds, before the first compile, the options for which a corpus's commands are refused.

Every compile refuses them by itself (mlgo/corpus/command.py). That would be the first module that has one, perhaps
hours into a run, and one option at a time.
"""

from collections.abc import Mapping, Sequence

from mlgo.corpus.command import CommandError
from mlgo.corpus.corpus import Corpus, CorpusError
from mlgo.corpus.description import UNSPECIFIED_OVERRIDE
from mlgo.corpus.options.verdict import can_be_allowed

_SHOWN = 8


def find_refused(corpus: Corpus) -> dict[str, list[str]]:
    """Option for which commands of `corpus` are refused -> names of the modules that have it, in their order.
    Raises: CorpusError: a command cannot be read, or its last option lacks its argument; so do the functions below."""
    found: dict[str, list[str]] = {}
    for module in corpus.modules:
        try:
            refused = module.command.refused
        except CommandError as error:
            raise CorpusError(f"{error.subject}, of {module.name}", error.wrong, error.remedy) from error
        for option in refused:
            found.setdefault(option, []).append(module.name)
    return found


def notes(corpus: Corpus) -> list[str]:
    """What whoever makes `corpus` should know about its commands: a line, or none if nothing is refused."""
    if corpus.command_override == UNSPECIFIED_OVERRIDE or not (refused := find_refused(corpus)):
        return []
    described, flags = _described(refused)
    rest = f"whoever compiles the corpus must allow them ({flags})" if flags else "no compile takes them"
    return [f"note: commands have options that may do more than change code: {described}; {rest}"]


def check_commands(corpus: Corpus) -> None:
    """Raises: CorpusError: commands of `corpus` have options that are refused; the message lists them."""
    if not (refused := find_refused(corpus)):
        return
    described, flags = _described(refused)
    wrong = f"has commands with options that may do more than change code: {described}"
    remedy = "Build and extract it without them" + (f", or, if you trust the corpus, give {flags}" if flags else "")
    raise CorpusError(f"corpus {corpus.path}", wrong, remedy)


def _described(refused: Mapping[str, Sequence[str]]) -> tuple[str, str]:
    """For a message: "-mllvm -stats (2 modules, such as a.c)", and the flags that help, "" if one cannot be allowed."""
    shown = [
        f"{option} ({f'{len(names)} modules, such as ' if len(names) > 1 else ''}{names[0]})"
        for option, names in list(refused.items())[:_SHOWN]
    ]
    more = f" and {len(refused) - _SHOWN} more" if len(refused) > _SHOWN else ""
    flags = [f"--allow_option='{option}'" for option in list(refused)[:_SHOWN]]
    return ", ".join(shown) + more, " ".join(flags) if all(map(can_be_allowed, refused)) else ""
