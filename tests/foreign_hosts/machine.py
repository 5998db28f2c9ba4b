"""What a stand-in takes from this machine: pip's settings and folders, name resolution, certificates."""

import ast
import os
import pathlib
import re
import shlex
import sys
import urllib.parse
from collections.abc import Iterator

from tests.isolation.root_folders import run

#: pip's settings that say where archives come from. Not `cert`: a stand-in has the certificates in its own place.
_SETTINGS = ("constraint", "extra-index-url", "find-links", "index-url", "no-index", "proxy", "trusted-host")
_NETWORK = ("/etc/resolv.conf", "/etc/hosts")
_CERTIFICATES = "/etc/ssl/certs/ca-certificates.crt"


def pip_environment(config: str) -> dict[str, str]:
    """pip's variables for what `pip config list` prints, such as `global.index-url='...'`; the last line counts."""
    found = {}
    for line in config.splitlines():
        name, separator, value = line.partition("=")
        setting = name.rpartition(".")[2]
        if separator and setting in _SETTINGS:
            found["PIP_" + setting.upper().replace("-", "_")] = str(ast.literal_eval(value))
    return found


def local_paths(environment: dict[str, str]) -> list[str]:
    """Folders and files that pip's variables name, by path or as file: URL, without those inside others."""
    paths = []
    for name, value in environment.items():
        for word in value.split():
            path = re.sub(r"^file:(//)?(?=/)", "", urllib.parse.unquote(word)).rstrip("/")
            # The pages of an index lead to files beside it.
            paths.append(os.path.dirname(path) if name.endswith("INDEX_URL") else path)
    found: list[str] = []
    for path in sorted(path for path in paths if path.startswith("/") and os.path.exists(path)):
        if not any(path == other or path.startswith(other + "/") for other in found):
            found.append(path)
    return found


def pip_settings() -> dict[str, str]:
    """pip's variables for the configuration of this machine.

    Raises: RootFolderError: this Python has no pip.
    """
    return pip_environment(run([sys.executable, "-m", "pip", "config", "list"], "pip config list"))


def mounts(root: pathlib.Path, archives: pathlib.Path, certificates: str, pip: dict[str, str]) -> Iterator[str]:
    """Commands of a shell in `root` that show it folders and files of this machine, read-only."""
    shown = {path: path.lstrip("/") for path in (*_NETWORK, *local_paths(pip))}
    shown[str(archives)] = "srv/archives"
    shown[_CERTIFICATES] = certificates
    for source, name in shown.items():
        if not os.path.exists(source):
            continue
        target = root / name
        target.parent.mkdir(parents=True, exist_ok=True)
        if os.path.isdir(source):
            target.mkdir(exist_ok=True)
        elif not target.exists():
            target.touch()
        bind = shlex.join(["mount", "--bind", os.path.realpath(source), name])
        yield f"{bind} && {shlex.join(['mount', '-o', 'remount,bind,ro', name])}"
