"""The further compilers of a comparison: --compiler=NAME=PATH[,FLAG...]."""

import dataclasses
import pathlib
import re
from collections.abc import Callable, Sequence

from mlgo.identity.programs import compiler_identity, flags_identity
from mlgo.run import locate
from mlgo.run.exit_codes import RunError
from mlgo.run.manifest import digest_of_json

_COMPILER = re.compile(r"([A-Za-z0-9_.-]+)=([^,]+)((?:,[^,]+)*)")
#: Of the flag in both commands.
HELP = "Further side, as NAME=PATH[,FLAG...]; repeatable."


@dataclasses.dataclass(frozen=True)
class OtherCompiler:
    """A clang under comparison.

    Attributes:
      name: name in tables.
      clang: the executable, links followed.
      flags: what every compile gets besides.
    """

    name: str
    clang: pathlib.Path
    flags: tuple[str, ...]

    def identity(self) -> str:
        """Digest of the compiler, and of the files that its flags name. Raises: RunError: one cannot be read."""
        compiler, named = compiler_identity(self.clang), flags_identity(self.flags)
        return digest_of_json([compiler, *named]) if named else compiler


def other_compilers(values: Sequence[str], is_taken: Callable[[str], bool]) -> list[OtherCompiler]:
    """The compilers that --compiler names.

    Args: is_taken: whether a side that is not of --compiler has this name.
    Raises: RunError: a value is not NAME=PATH[,FLAG...], its name is taken, or there is no such program.
    """
    found: dict[str, OtherCompiler] = {}
    for value in values:
        match = _COMPILER.fullmatch(value)
        if match is None:
            example = "Give a value such as mine=/opt/clang,-mllvm,-inline-threshold=20"
            raise RunError(f"--compiler={value}", "is not NAME=PATH[,FLAG...]", example)
        name = match[1]
        if name in found or is_taken(name):
            raise RunError(f"--compiler={value}", f"has the name {name!r}, which is taken", "Give another name")
        clang = locate.program(match[2], "--compiler", "").resolve()
        found[name] = OtherCompiler(name, clang, tuple(filter(None, match[3].split(","))))
    return list(found.values())
