"""What bazelw and the builds need of the machine: checked before anything is downloaded, and named all at once."""

import importlib.util
import os
import re
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
_WANTED_MACHINE = "Linux on x86-64"
MACHINES = ("x86_64", "amd64")
#: The compilers and the interpreter are Debian 12's or built on it; they use the machine's glibc, by its loader.
OLDEST_GLIBC = (2, 36)
LOADER = "/lib64/ld-linux-x86-64.so.2"

#: Where systems keep the certificate authorities: Debian, Ubuntu, Arch; Fedora (two places); openSUSE; Alpine
#: (crypto/x509/root_linux.go of Go 1.24).
CERTIFICATES = (
    "/etc/ssl/certs/ca-certificates.crt",
    "/etc/pki/tls/certs/ca-bundle.crt",
    "/etc/pki/ca-trust/extracted/pem/tls-ca-bundle.pem",
    "/etc/ssl/ca-bundle.pem",
    "/etc/ssl/cert.pem",
)


def certificates(environ: Mapping[str, str], known: Sequence[str] = CERTIFICATES) -> Optional[str]:
    """The file of certificate authorities: SSL_CERT_FILE, otherwise the first of `known` that exists, or None."""
    named = [environ["SSL_CERT_FILE"]] if environ.get("SSL_CERT_FILE") else known
    return next((path for path in named if os.path.isfile(path)), None)


def glibc() -> str:
    """The version of the C library that python3 runs with, such as "2.36"; "" if it is not glibc."""
    try:
        name, _, version = (os.confstr("CS_GNU_LIBC_VERSION") or "").partition(" ")
    except (ValueError, OSError):  # Another library does not know the name.
        return ""
    return version if name == "glibc" else ""


def lacking(
    path: str,
    uname: Sequence[str],
    has_module: Callable[[str], bool] = lambda name: importlib.util.find_spec(name) is not None,
    libc: Optional[str] = None,
    loader: str = LOADER,
) -> List[str]:
    """What the machine lacks, each as a phrase; empty when it has all.

    Args:
        path: the search path of programs.
        uname: kernel name and machine, such as ("Linux", "x86_64").
        has_module: whether python3 has a module.
        libc: version of glibc, "" for another C library; by default this machine's.
        loader: path of glibc's loader, which must exist.
    """
    found = []
    if uname[0] != "Linux" or uname[1] not in MACHINES:
        found.append(_WANTED_MACHINE + " (this is %s on %s)" % tuple(uname))
    else:
        found += _lacking_glibc(glibc() if libc is None else libc, loader)
    found += ["python3's module " + name for name in PYTHON_MODULES if not has_module(name)]
    return found + [name for name in PROGRAMS if shutil.which(name, path=path) is None]


def _lacking_glibc(libc: str, loader: str) -> List[str]:
    wanted = "glibc %d.%d or newer" % OLDEST_GLIBC
    if not libc:
        return [wanted + " (this is another C library)"]
    if tuple(int(number) for number in re.findall(r"\d+", libc)[:2]) < OLDEST_GLIBC:
        return ["%s (this is %s)" % (wanted, libc)]
    return [] if os.path.exists(loader) else ["glibc's loader " + loader]


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
        packages.append("python3")
    remedies = []
    if any(name.startswith(_WANTED_MACHINE) for name in missing):
        remedies.append("use such a machine or one that is emulated (a container of linux/amd64, such as Debian 12)")
    elif any(name not in PROGRAMS and not name.startswith("python3's") for name in missing):
        remedies.append("use a newer system or a container of one (such as Debian 12)")
    if packages:
        install = "install programs with the machine's package manager (on Debian and Ubuntu: apt-get install %s)"
        remedies.append(install % " ".join(packages))
    remedy = " and ".join(remedies + ["run the same command again."])
    raise LauncherError("this machine", "lacks " + ", ".join(missing), remedy[0].upper() + remedy[1:])


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
