"""Root folders made of Debian's packages by the machine's apt, which checks signatures.

apt gets a state of its own, so that the machine's own packages stay as they are.
"""

import os
import pathlib
import re
import subprocess

_KEYRING = "/usr/share/keyrings/debian-archive-keyring.gpg"


class RootFolderError(Exception):
    """A root folder cannot be made or used; one sentence that says what failed and what to do."""


def run(command: list, subject: str, **options) -> str:
    """Runs a program and returns its output.

    Args: options: of `subprocess.run`.

    Raises: RootFolderError: it ends with an error; carries the end of what it says.
    """
    ended = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, **options)
    if ended.returncode:
        raise RootFolderError(f"{subject}: exit code {ended.returncode}: {ended.stdout.strip()[-1500:]}")
    return ended.stdout


def packages(simulation: str) -> list[str]:
    """Names that `apt-get install -s` would install."""
    return sorted(set(re.findall(r"^Inst (\S+)", simulation, re.MULTILINE)))


class Apt:
    """apt with an empty list of installed packages and one suite of the machine's Debian mirror.

    Args:
      folder: for apt's state; must not exist.
      suite: a suite or a code name of Debian.

    Raises: RootFolderError: the machine has no Debian mirror, or it cannot be reached.
    """

    def __init__(self, folder: pathlib.Path, suite: str = "testing"):
        for name in ("lists/partial", "cache/archives/partial"):
            (folder / name).mkdir(parents=True)
        (folder / "status").touch()
        sites = run(["apt-get", "indextargets", "--format", "$(SITE) $(ORIGIN)"], "the machine's apt").splitlines()
        debian = [line.split()[0] for line in sites if line.endswith(" Debian")]
        if not debian:
            raise RootFolderError(
                "the machine's apt: no index of a Debian mirror. Run apt-get update with a Debian mirror"
            )
        (folder / "sources.list").write_text(f"deb [signed-by={_KEYRING}] {debian[0]} {suite} main\n", "utf-8")
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
                    raise RootFolderError(
                        f"{archive.name}: dpkg-deb cannot unpack it. Delete the folder and start again"
                    )

    def _run(self, *arguments: str) -> str:
        return run(["apt-get", "-q", *arguments], f"apt-get {arguments[0]}", env=self._environment)
