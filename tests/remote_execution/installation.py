"""Installs the parts of a farm into a folder: BuildGrid by pip, from a lock of hashes; PostgreSQL and BuildBox by the
machine's apt, which checks signatures, from Debian's testing suite. The machine's own packages stay as they are.
"""

import os
import pathlib
import re
import shutil
import subprocess
import sys

from tests.remote_execution.failure import FarmError

HERE = pathlib.Path(__file__).resolve().parent
_KEYRING = "/usr/share/keyrings/debian-archive-keyring.gpg"
#: What lies in each root folder. What an action sees is `ACTION_PACKAGES` alone.
SERVER_PACKAGES = ("postgresql", "busybox-static")
WORKER_PACKAGES = ("buildbox", "bubblewrap", "busybox-static")
ACTION_PACKAGES = ("libc6", "busybox-static", "bash-static")
_DONE = "installed"


def run(command: list, subject: str, **options) -> str:
    """Runs a program and returns its output.

    Raises: FarmError: it ends with an error; carries the end of what it says.
    """
    ended = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, **options)
    if ended.returncode:
        raise FarmError(f"{subject}: exit code {ended.returncode}: {ended.stdout.strip()[-1500:]}")
    return ended.stdout


def install(folder: pathlib.Path) -> None:
    """Makes `folder`/buildgrid (virtual environment) and the root folders server, worker and actions.

    A folder where an installation has ended is left as it is; an interrupted one is begun anew.

    Raises: FarmError: a download, a hash or a signature fails.
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
    apt = _Apt(folder / "apt")
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


def packages(simulation: str) -> list[str]:
    """Names that `apt-get install -s` would install."""
    return sorted(set(re.findall(r"^Inst (\S+)", simulation, re.MULTILINE)))


class _Apt:
    """apt with a state of its own in `folder`: the machine's mirror, an empty list of installed packages."""

    def __init__(self, folder: pathlib.Path):
        for name in ("lists/partial", "cache/archives/partial"):
            (folder / name).mkdir(parents=True)
        (folder / "status").touch()
        sites = run(["apt-get", "indextargets", "--format", "$(SITE) $(ORIGIN)"], "the machine's apt").splitlines()
        debian = [line.split()[0] for line in sites if line.endswith(" Debian")]
        if not debian:
            raise FarmError("the machine's apt: no index of a Debian mirror. Run apt-get update with a Debian mirror")
        (folder / "sources.list").write_text(f"deb [signed-by={_KEYRING}] {debian[0]} testing main\n", "utf-8")
        settings = {
            "Dir::State::lists": folder / "lists",
            "Dir::State::status": folder / "status",
            "Dir::Cache": folder / "cache",
            "Dir::Etc::sourcelist": folder / "sources.list",
            "Dir::Etc::sourceparts": "/dev/null",
            "Dir::Etc::preferencesparts": "/dev/null",
            "APT::Install-Recommends": "false",
            "APT::Sandbox::User": "root",
        }
        (folder / "apt.conf").write_text("".join(f'{k} "{v}";\n' for k, v in settings.items()), "utf-8")
        self._folder = folder
        self._environment = {**os.environ, "APT_CONFIG": str(folder / "apt.conf"), "LC_ALL": "C"}
        self._run("update")

    def unpack(self, names: tuple[str, ...], root: pathlib.Path) -> None:
        """Unpacks packages and all that they depend on into a new root folder; no maintainer script runs."""
        self._run("install", "-y", "--download-only", *names)
        for name in ("bin", "sbin", "lib", "lib64"):
            (root / "usr" / name).mkdir(parents=True)
            (root / name).symlink_to(f"usr/{name}")
        for name in packages(self._run("install", "-s", "-y", *names)):
            for archive in sorted((self._folder / "cache/archives").glob(f"{name}_*.deb")):
                with subprocess.Popen(["dpkg-deb", "--fsys-tarfile", archive], stdout=subprocess.PIPE) as tar:
                    run(["tar", "x", "--keep-directory-symlink", "-C", root], archive.name, stdin=tar.stdout)
                if tar.returncode:
                    raise FarmError(f"{archive.name}: dpkg-deb cannot unpack it. Delete the folder and start again")

    def _run(self, *arguments: str) -> str:
        return run(["apt-get", "-q", *arguments], f"apt-get {arguments[0]}", env=self._environment)


def _prepare_server(root: pathlib.Path) -> None:
    """PostgreSQL refuses to run as root and wants a name of its user."""
    (root / "etc").mkdir(exist_ok=True)
    (root / "etc/passwd").write_text("farm:x:65534:65534::/:/bin/sh\n", "utf-8")
    (root / "etc/group").write_text("farm:x:65534:\n", "utf-8")
    for name in ("dev", "tmp", "database"):
        (root / name).mkdir(exist_ok=True)
        (root / name).chmod(0o777)
