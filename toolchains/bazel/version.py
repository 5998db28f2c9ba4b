"""Which Bazel to use: the rule, and the words for what was refused."""

import re
from typing import Optional, Tuple

Version = Tuple[int, ...]

# MODULE.bazel overrides the modules that Bazel 7.7 asks for itself (third_party/registry); others ask for other ones.
OLDEST: Version = (7, 7)
FIRST_TOO_NEW: Version = (8,)
RANGE = ">= 7.7, < 8"


def parse(output: str) -> Optional[Version]:
    """The version in the output of `bazel --version`, e.g. (7, 7, 1); None if it says none."""
    match = re.search(r"^bazel (\d+(?:\.\d+)*)", output, re.MULTILINE)
    return tuple(int(part) for part in match.group(1).split(".")) if match else None


def accepted(version: Optional[Version]) -> bool:
    return version is not None and OLDEST <= version < FIRST_TOO_NEW


def describe(version: Optional[Version]) -> str:
    return "a Bazel that tells no version" if version is None else "Bazel " + ".".join(map(str, version))
