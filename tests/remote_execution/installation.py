"""Installs the parts of a farm into a folder: BuildGrid by pip, from a lock of hashes; PostgreSQL and BuildBox by the
machine's apt, which checks signatures, from Debian's testing suite. The machine's own packages stay as they are.
"""

import os
import pathlib
import shutil
import sys

from tests.isolation.root_folders import Apt, run

HERE = pathlib.Path(__file__).resolve().parent
#: What lies in each root folder. What an action sees is `ACTION_PACKAGES` alone.
SERVER_PACKAGES = ("postgresql", "busybox-static")
WORKER_PACKAGES = ("buildbox", "bubblewrap", "busybox-static")
ACTION_PACKAGES = ("libc6", "busybox-static", "bash-static")
_DONE = "installed"


def install(folder: pathlib.Path) -> None:
    """Makes `folder`/buildgrid (virtual environment) and the root folders server, worker and actions.

    A folder where an installation has ended is left as it is; an interrupted one is begun anew.

    Raises: RootFolderError: a download, a hash or a signature fails.
    """
    if (folder / _DONE).exists():
        return
    for name in ("buildgrid", "apt", "server", "worker", "actions"):
        shutil.rmtree(folder / name, ignore_errors=True)
    folder.mkdir(parents=True, exist_ok=True)
    run([sys.executable, "-m", "venv", folder / "buildgrid"], "virtual environment of BuildGrid")
    lock = HERE / "requirements_lock.txt"
    pip = [folder / "buildgrid/bin/python", "-m", "pip", "install", "--quiet", "--no-deps", "--only-binary=:all:"]
    run([*pip, "--require-hashes", "-r", lock], f"{lock.name}")
    apt = Apt(folder / "apt")
    apt.unpack(SERVER_PACKAGES, folder / "server")
    apt.unpack(WORKER_PACKAGES, folder / "worker")
    apt.unpack(ACTION_PACKAGES, folder / "actions")
    (folder / "actions/usr/bin/bash").symlink_to("bash-static")
    for root in ("server", "actions"):
        programs = folder / root / "usr/bin"
        for name in run([programs / "busybox", "--list"], "busybox").split():
            if not os.path.lexists(programs / name):
                (programs / name).symlink_to("busybox")
    _prepare_server(folder / "server")
    shutil.rmtree(folder / "apt")
    (folder / _DONE).touch()


def _prepare_server(root: pathlib.Path) -> None:
    """PostgreSQL refuses to run as root and wants a name of its user."""
    (root / "etc").mkdir(exist_ok=True)
    (root / "etc/passwd").write_text("farm:x:65534:65534::/:/bin/sh\n", "utf-8")
    (root / "etc/group").write_text("farm:x:65534:\n", "utf-8")
    for name in ("dev", "tmp", "database"):
        (root / name).mkdir(exist_ok=True)
        (root / name).chmod(0o777)
