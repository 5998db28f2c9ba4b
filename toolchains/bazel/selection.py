"""Finds the Bazel to run: the user's own if it fits, else none (then the launcher installs Debian's)."""

import os
import subprocess
from typing import Callable, Iterator, List, Mapping, Optional, Tuple

from toolchains.bazel import version
from toolchains.bazel.errors import LauncherError

NAMES = ("bazel", "bazelisk")
# Set while a candidate is asked for its version, so that one which is this launcher again ends at once.
PROBE = "MLGO_BAZELW_PROBE"
PROBE_SECONDS = 300  # bazelisk may download a Bazel first.

Probe = Callable[[str], Optional[version.Version]]


def programs_on_path(names: Tuple[str, ...], path: str) -> Iterator[str]:
    """Every executable of these names on `path`, in search order, each file once."""
    seen = set()
    for name in names:
        for folder in path.split(os.pathsep):
            program = os.path.join(folder or ".", name)
            real = os.path.realpath(program)
            if os.path.isfile(real) and os.access(real, os.X_OK) and real not in seen:
                seen.add(real)
                yield program


def ask(program: str, workspace: str, environ: Mapping[str, str]) -> Optional[version.Version]:
    """What `PROGRAM --version` says; None when it fails or says something else."""
    try:
        done = subprocess.run(
            [program, "--version"],
            cwd=workspace,
            env=dict(environ, **{PROBE: "1"}),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            timeout=PROBE_SECONDS,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired):
        return None
    return version.parse(done.stdout.decode(errors="replace")) if done.returncode == 0 else None


def choose(environ: Mapping[str, str], own: str, probe: Probe, say: Callable[[str], None]) -> Optional[str]:
    """The user's Bazel, or None.

    Args:
        environ: `BAZEL` and `PATH` are read.
        own: this launcher's real path; it is never its own choice.
        probe: program -> its version.
        say: receives one line for each Bazel that was found and refused.
    Raises:
        LauncherError: `BAZEL` names something that cannot be used.
    """
    asked = environ.get("BAZEL")
    if asked:
        return _named(asked, environ, probe)
    refused: List[str] = []
    for program in programs_on_path(NAMES, environ.get("PATH", "")):
        if os.path.realpath(program) == own:
            continue
        found = probe(program)
        if version.accepted(found):
            return program
        refused.append(f"{program} is {version.describe(found)}")
    if refused:
        say(f"{'; '.join(refused)}: passed over, since mlgo needs Bazel {version.RANGE}; using Debian's Bazel instead")
    return None


def _named(asked: str, environ: Mapping[str, str], probe: Probe) -> str:
    if os.sep in asked:
        candidates = [asked] if os.path.isfile(asked) and os.access(asked, os.X_OK) else []
    else:
        candidates = list(programs_on_path((asked,), environ.get("PATH", "")))
    remedy = f"Set BAZEL to a Bazel {version.RANGE}, or unset it to let bazelw find or install one."
    if not candidates:
        raise LauncherError(f"BAZEL={asked}", "no such program", remedy)
    found = probe(candidates[0])
    if not version.accepted(found):
        raise LauncherError(f"BAZEL={asked}", f"is {version.describe(found)}, mlgo needs {version.RANGE}", remedy)
    return candidates[0]
