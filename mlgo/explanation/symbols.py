"""C++ names for people, by llvm-cxxfilt where there is one."""

import pathlib
import subprocess
from collections.abc import Iterable

from mlgo.run.exit_codes import RunError


def demangled(program: pathlib.Path | None, names: Iterable[str]) -> dict[str, str]:
    """Each name -> the same for people; without a program, or where it is not mangled, the name itself.

    Raises: RunError: the program fails.
    """
    wanted = list(dict.fromkeys(names))
    if program is None or not wanted:
        return {name: name for name in wanted}
    what, remedy = f"the demangler {program}", "Give --cxxfilt=PATH of LLVM's llvm-cxxfilt"
    try:
        # A name with a newline would be two lines; nothing that C++ mangles has one.
        text = "".join(name.replace("\n", " ") + "\n" for name in wanted)
        ended = subprocess.run([program], input=text, capture_output=True, text=True, check=True)
    except (OSError, subprocess.CalledProcessError) as error:
        raise RunError(what, f"cannot be used: {error}", remedy) from error
    lines = ended.stdout.splitlines()
    if len(lines) != len(wanted):
        raise RunError(what, f"gave {len(lines)} lines for {len(wanted)} names", remedy)
    return dict(zip(wanted, lines))
