"""Debian's own mirror, for machines of which no file names one: a package of pip's index names it.

The package (`mirror_package.json`) makes images of Debian, and one of its settings is the mirror. It is a wheel, pinned
by sha256. One file of it is read as text, and nothing of it runs. pip's index is that of the machine's configuration.
Standard library only, as `lockfile.py`.
"""

import json
import os
import pathlib
import re
import resource
import subprocess
import sys
import sysconfig
import tempfile
import zipfile
from typing import List, Mapping, Optional, Sequence

import digests
import lockfile
import meter
import sources

PATH = pathlib.Path(__file__).with_name("mirror_package.json")
#: The settings for an image of Debian, and the mirror among them.
MEMBER = "diskimage_builder/elements/debian-minimal/environment.d/10-debian-minimal.bash"
_SETTING = re.compile(rb"\$\{DIB_DISTRIBUTION_MIRROR:-(https?://[\w.-]+/debian)/?\}", re.A)
_MEMBER_BYTES = 1 << 16
_NO_PIP = "No module named pip"
#: pip asks twice and waits 20 s each time; slower than this it is ended.
_SECONDS = 120
#: pip writes no larger file: the wheel has 0.7 MB.
_LARGEST_BYTES = 1 << 25


class PackageError(Exception):
    """The package cannot be had, or does not name a mirror; the message says why, as a clause."""


def bases(environ: Mapping[str, str], starts: Optional[Sequence[Sequence[str]]] = None) -> List[str]:
    """The mirror that the package names, which one line tells. The archive cache keeps the package.

    Args: starts: see `pip_starts`.

    Raises:
        PackageError: why there is none, as a clause.
        LockError: `mirror_package.json` is not usable.
    """
    package = load()
    kept = digests.default_cache(environ) / package.sha256
    try:
        if not kept.is_file() or digests.wrong_bytes(package, kept):
            _download(package, kept, environ, pip_starts() if starts is None else starts)
        address = _address(kept)
    except OSError as error:
        raise PackageError(f"{error.filename}: {error.strerror or error}") from None
    except (zipfile.BadZipFile, KeyError, RuntimeError, NotImplementedError) as error:
        raise PackageError(f"{kept}: cannot be read as a wheel with {MEMBER} ({error})") from None
    meter.to_stderr(
        f"debian: no file of this machine names a Debian mirror; {package.name} {package.version}: {address}"
    )
    return [address]


def load(path=PATH) -> lockfile.Entry:
    """The wheel; its `path` is the name of the file.

    Raises:
        LockError: the file cannot be read or is not of this form.
    """
    try:
        return lockfile.Entry(suite="", **json.loads(pathlib.Path(path).read_text(encoding="utf-8")))
    except (OSError, ValueError, TypeError) as error:
        raise lockfile.LockError(f"{path}: cannot be read as JSON of a wheel ({error}); restore it from git") from None


def pip_starts() -> List[List[str]]:
    """What may follow `python3` to run pip: the module, and the wheels from which ensurepip would install it."""
    folders = [
        sysconfig.get_config_var("WHEEL_PKG_DIR"),
        os.path.join(sysconfig.get_path("stdlib"), "ensurepip/_bundled"),
    ]
    wheels = [wheel for folder in folders if folder for wheel in sorted(pathlib.Path(folder).glob("pip-*.whl"))]
    return [["-m", "pip"], *([f"{wheel}/pip"] for wheel in wheels)]


def _download(
    package: lockfile.Entry, kept: pathlib.Path, environ: Mapping[str, str], starts: Sequence[Sequence[str]]
) -> None:
    """Puts the verified wheel into the cache."""
    kept.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=kept.parent) as scratch:
        lock = pathlib.Path(scratch, "lock.txt")
        lock.write_text(f"{package.name}=={package.version} --hash=sha256:{package.sha256}\n", encoding="ascii")
        # --only-binary: of a source archive pip would run the program that builds it.
        arguments = ["download", "--no-deps", "--require-hashes", "--only-binary=:all:", "--quiet", "--retries=1"]
        arguments += ["--progress-bar=off", "--timeout=20", f"--dest={scratch}", f"--requirement={lock}"]
        reason = _NO_PIP
        for start in starts:
            if _NO_PIP in reason:
                reason = _run_pip([*start, *arguments], environ)
        wheel = pathlib.Path(scratch, package.path)
        if reason or not wheel.is_file():
            raise PackageError(f"pip: {reason or 'it wrote no ' + package.path}")
        difference = digests.wrong_bytes(package, wheel)
        if difference:
            raise PackageError(f"{package.path}: {difference}")
        os.replace(wheel, kept)


def _run_pip(arguments: Sequence[str], environ: Mapping[str, str]) -> str:
    """Runs pip, apart from the user's Python packages; "" if it succeeds, otherwise its errors."""
    own = {"PIP_DISABLE_PIP_VERSION_CHECK": "1", "PIP_NO_INPUT": "1", "PIP_REQUIRE_VIRTUALENV": "0"}
    try:
        done = subprocess.run(
            [sys.executable, "-I", "-B", *arguments],
            env={**environ, **own},
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            errors="replace",
            timeout=_SECONDS,
            check=False,
            preexec_fn=_limit_files,
        )
    except subprocess.TimeoutExpired:
        return f"no package within {_SECONDS} s"
    lines = [line for line in done.stderr.splitlines() if line.strip()]
    said = [line for line in lines if line.startswith("ERROR:")] or lines[-1:] or ["it printed nothing"]
    return sources.printable(" ".join(said)) if done.returncode else ""


def _limit_files() -> None:
    _, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    soft = _LARGEST_BYTES if hard == resource.RLIM_INFINITY else min(_LARGEST_BYTES, hard)
    resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))


def _address(wheel: pathlib.Path) -> str:
    with zipfile.ZipFile(wheel) as archive, archive.open(MEMBER) as member:
        named = _SETTING.search(member.read(_MEMBER_BYTES))
    if not named:
        raise PackageError(f"{wheel}: {MEMBER} names no address of the form http://HOST/debian")
    return named[1].decode("ascii")
