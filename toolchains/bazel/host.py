"""What bazelw and the builds need of the machine: checked before anything is downloaded, and named all at once."""

import importlib.util
import os
import shutil
from typing import Callable, List, Mapping, Optional, Sequence

from toolchains.bazel.errors import LauncherError

#: Program -> Debian package. Bazel's scripts, repository rules and test runners call them. bazelw has the same list.
PROGRAMS = {
    "awk": "mawk",
    "bash": "bash",
    "cmp": "diffutils",
    "env": "coreutils",
    "find": "findutils",
    "getconf": "libc-bin",
    "git": "git",
    "grep": "grep",
    "gzip": "gzip",
    "sed": "sed",
    "tar": "tar",
}
#: Parts of Python's standard library that some systems leave out; xz archives and .deb files are read with them.
PYTHON_MODULES = ("bz2", "hashlib", "lzma", "ssl", "zlib")
MACHINES = ("x86_64", "amd64")


def lacking(
    path: str,
    uname: Sequence[str],
    has_module: Callable[[str], bool] = lambda name: importlib.util.find_spec(name) is not None,
) -> List[str]:
    """What the machine lacks, each as a phrase; empty when it has all.

    Args:
        path: the search path of programs.
        uname: kernel name and machine, such as ("Linux", "x86_64").
        has_module: whether python3 has a module.
    """
    found = []
    if uname[0] != "Linux" or uname[1] not in MACHINES:
        found.append("Linux on x86-64 (this is %s on %s)" % tuple(uname))
    found += ["python3's module " + name for name in PYTHON_MODULES if not has_module(name)]
    return found + [name for name in PROGRAMS if shutil.which(name, path=path) is None]


def check(environ: Mapping[str, str], uname: Optional[Sequence[str]] = None) -> None:
    """Ends when the machine lacks something.

    Raises:
        LauncherError: names everything that is missing, and the packages that hold it.
    """
    system = os.uname()
    missing = lacking(environ.get("PATH", os.defpath), uname or (system.sysname, system.machine))
    if not missing:
        return
    packages = sorted({PROGRAMS[name] for name in missing if name in PROGRAMS})
    if any(name.startswith("python3's") for name in missing):
        packages.append("python3 with its whole standard library")
    remedy = "Install them with the machine's package manager" if packages else "Use such a machine"
    if packages:
        remedy += " (on Debian and Ubuntu: apt-get install %s)" % " ".join(
            "python3" if name.startswith("python3") else name for name in packages
        )
    raise LauncherError("this machine", "lacks " + ", ".join(missing), remedy + " and run the same command again.")


def cache_folder(environ: Mapping[str, str], home: str) -> str:
    """The folder of the user's caches, which Bazel and the downloads use.

    Raises:
        LauncherError: there is none, or it cannot be written.
    """
    folder = environ.get("XDG_CACHE_HOME") or os.path.join(home, ".cache")
    if not environ.get("XDG_CACHE_HOME") and not os.path.isabs(home):
        raise LauncherError(
            "HOME",
            "is not set and the user has no entry in passwd",
            "Set HOME or XDG_CACHE_HOME to a writable directory.",
        )
    existing = os.path.abspath(folder)
    while not os.path.lexists(existing):
        existing = os.path.dirname(existing)
    if not os.path.isdir(existing) or not os.access(existing, os.W_OK | os.X_OK):
        raise LauncherError(
            "the cache folder " + folder,
            "cannot be written (%s)"
            % ("read-only or another user's" if os.path.isdir(existing) else existing + " is no directory"),
            "Set XDG_CACHE_HOME to a writable directory.",
        )
    return folder
