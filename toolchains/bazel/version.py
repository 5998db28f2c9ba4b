"""Which Bazel to use: the rule, and the words for what was refused."""

import re
from typing import Optional, Tuple

Version = Tuple[int, ...]

# The first with everything our bzlmod set-up needs; 9 removes what rules_cc 0.0.11 and rules_python 0.22.1 rely on.
OLDEST: Version = (7, 6)
FIRST_TOO_NEW: Version = (9,)
RANGE = ">= 7.6, < 9"


def parse(output: str) -> Optional[Version]:
    """The version in the output of `bazel --version`, e.g. (7, 7, 1); None if it says none."""
    match = re.search(r"^bazel (\d+(?:\.\d+)*)", output, re.MULTILINE)
    return tuple(int(part) for part in match.group(1).split(".")) if match else None


def accepted(version: Optional[Version]) -> bool:
    return version is not None and OLDEST <= version < FIRST_TOO_NEW


def describe(version: Optional[Version]) -> str:
    return "a Bazel that tells no version" if version is None else "Bazel " + ".".join(map(str, version))
