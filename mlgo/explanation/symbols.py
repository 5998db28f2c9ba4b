"""Demangles C++ names with llvm-cxxfilt."""

import pathlib
import subprocess
from collections.abc import Iterable

from mlgo.run.exit_codes import RunError


def demangled(program: pathlib.Path | None, names: Iterable[str]) -> dict[str, str]:
    """Name -> demangled name; the name itself without a program or where it is not mangled.

    Raises: RunError: the program fails.
    """
    wanted = list(dict.fromkeys(names))
    if program is None or not wanted:
        return {name: name for name in wanted}
    what, remedy = f"the demangler {program}", "Give --cxxfilt=PATH of LLVM's llvm-cxxfilt"
    try:
        # A newline in a name would split it; mangled names contain none.
        text = "".join(name.replace("\n", " ") + "\n" for name in wanted)
        ended = subprocess.run([program], input=text, capture_output=True, text=True, check=True)
    except (OSError, subprocess.CalledProcessError) as error:
        raise RunError(what, f"cannot be used: {error}", remedy) from error
    lines = ended.stdout.splitlines()
    if len(lines) != len(wanted):
        raise RunError(what, f"gave {len(lines)} lines for {len(wanted)} names", remedy)
    return dict(zip(wanted, lines))
