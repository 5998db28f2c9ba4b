"""Parses the JSON files of a corpus: what it holds (corpus_description.json) and under which licences.

Descriptions are untrusted: their names are checked here before a file is opened.
"""

import dataclasses
import json
import re
from typing import Any

from mlgo.run import files
from mlgo.run.exit_codes import ExitCode, RunError

MAKE_IT_AGAIN = "make the corpus again, or give another one"


class CorpusError(RunError):
    """A corpus cannot be used; the message says which file, what is wrong with it, what to do."""

    def __init__(self, subject: str, wrong: str, remedy: str = MAKE_IT_AGAIN, code: ExitCode = ExitCode.USER_ERROR):
        super().__init__(subject, wrong, remedy, code)


DESCRIPTION_NAME = "corpus_description.json"
LICENCES_NAME = "corpus_licences.json"
#: Folder of what commands refer to besides bitcode, such as profiles.
FILES_FOLDER = "files"
#: In a directory that a writer has begun and not finished.
UNFINISHED_NAME = ".corpus_unfinished"

#: Licence of a module of which none is recorded, as SPDX calls it.
UNKNOWN_LICENCE = "NOASSERTION"

#: Placeholder of mlgo-utils for a command that must be added by hand.
UNSPECIFIED_OVERRIDE = ("<UNSPECIFIED>",)

# Names become paths below the corpus directory, so they must not lead out of it.
_UNSAFE_NAME = re.compile(r"\A/|(\A|/)\.\.?(/|\Z)|//|\x00|\A\Z|/\Z")


@dataclasses.dataclass(frozen=True)
class Description:
    """What corpus_description.json says."""

    #: Names, in the file's order; at least one, each once, none leads out of the corpus.
    modules: tuple[str, ...]
    has_thinlto: bool
    #: The command of every module, or None. Without flags, make_corpus of mlgo-utils writes ().
    command_override: tuple[str, ...] | None


def is_safe_name(name: str) -> bool:
    """Whether `name` is a plain relative path that stays inside the directory it is relative to."""
    return not _UNSAFE_NAME.search(name) and _is_argument(name)


def parse_description(content: bytes, shown: str) -> Description:
    """The description in `content` of a file that messages call `shown`.
    Raises: CorpusError: it is not a description, lists no module, or a name that it lists is unsafe or listed twice."""
    description = _parse_json(content, f"the corpus description ({shown})")
    if not isinstance(description, dict) or not isinstance(description.get("modules"), list):
        raise CorpusError(shown, 'is not an object with a list "modules"')
    has_thinlto = description.get("has_thinlto", False)
    if not isinstance(has_thinlto, bool):
        raise CorpusError(shown, f'has "has_thinlto": {has_thinlto!r}, which is neither true nor false')
    names = description["modules"]
    if not names:
        raise CorpusError(shown, "lists no module", code=ExitCode.NOTHING_PRODUCED)
    seen: set[str] = set()
    for name in names:
        if not isinstance(name, str) or not is_safe_name(name):
            raise CorpusError(shown, f"lists {name!r}, which is not a relative path inside the corpus")
        if name in seen:
            raise CorpusError(shown, f"lists {name!r} twice")
        seen.add(name)
    for name in names if has_thinlto else ():
        if f"{name}.thinlto" in seen:
            wrong = f"lists {name!r} and {name + '.thinlto'!r}, so that {name}.thinlto.bc has two meanings"
            raise CorpusError(shown, wrong)
    override = description.get("global_command_override")
    if override is None:
        return Description(tuple(names), has_thinlto, None)
    if not isinstance(override, list) or not all(isinstance(word, str) and _is_argument(word) for word in override):
        raise CorpusError(shown, 'has a "global_command_override" that is not a list of arguments')
    return Description(tuple(names), has_thinlto, tuple(override))


def parse_licences(content: bytes, shown: str) -> dict[str, str]:
    """Licence by module name, from corpus_licences.json. Raises: CorpusError: it is not as the writer leaves it."""
    licences = _parse_json(content, f"the licences of a corpus ({shown})")
    modules = licences.get("modules") if isinstance(licences, dict) else None
    if not isinstance(modules, dict) or not all(isinstance(licence, str) for licence in modules.values()):
        raise CorpusError(shown, 'is not an object with an object "modules" of names and SPDX expressions')
    return modules


def encode(value: object) -> bytes:
    """JSON of a corpus. ASCII, because JSON can represent bytes that are not UTF-8 only as escaped surrogates."""
    return (json.dumps(value, indent=2, ensure_ascii=True) + "\n").encode("ascii")


def _is_argument(word: str) -> bool:
    """Whether the system takes `word` as the name of a file and the argument of a command."""
    try:
        return b"\0" not in word.encode("utf-8", "surrogateescape")
    except UnicodeEncodeError:
        return False  # half a surrogate pair


def _parse_json(content: bytes, read: str) -> Any:
    try:
        return files.parse_json(content, read, MAKE_IT_AGAIN)
    except RunError as error:
        raise CorpusError(error.subject, error.wrong, error.remedy) from error
