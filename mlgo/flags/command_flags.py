"""Values of --add_flags, --delete_flags and --replace_flags, which absl's commands and argparse's have alike."""

import shlex
from collections.abc import Sequence

from mlgo.corpus.command_changes import CommandChanges, command_changes
from mlgo.run import locate
from mlgo.run.exit_codes import RunError


def flag_changes(add: Sequence[str], delete: Sequence[str], replace: Sequence[str]) -> CommandChanges:
    """The changes that values of three flags ask for: words, quoted as in a shell, and OPTION=VALUE to replace.

    Raises: RunError: a value is not of this form, or the changes are not usable (see `command_changes`).
    """
    replaced: dict[str, str] = {}
    for value in replace:
        name, separator, new = value.partition("=")
        if not separator or not name.startswith("-"):
            raise RunError(f"--replace_flags={value}", "is not of the form OPTION=VALUE", "Give -option=value")
        if name in replaced:
            raise RunError(f"--replace_flags={value}", f"gives {name} a second value", "Give one value for an option")
        replaced[name] = new
    added, deleted = _words("--add_flags", add), _words("--delete_flags", delete)
    return command_changes(added, _without_llvm(deleted), replaced, locate.user_path)


def _words(flag: str, values: Sequence[str]) -> list[str]:
    found: list[str] = []
    for value in values:
        try:
            found += shlex.split(value)
        except ValueError as error:
            raise RunError(f"{flag}={value}", f"is not quoted as in a shell: {error}", "Close the quotes") from error
    return found


def _without_llvm(words: Sequence[str]) -> list[str]:
    """Names of options without the -mllvm in front of LLVM's."""
    return [word for word in words if word != "-mllvm"]
