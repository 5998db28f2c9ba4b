"""Stand-ins for machines of other distributions: root folders made of Debian's packages, without what is Debian's own.

The registries that CI reaches carry no base system of another distribution. What distinguishes such a machine for
bazelw is made here: apt's configuration, the C library, the programs, the place of the certificates.
"""

import dataclasses
import pathlib
import shutil
from collections.abc import Callable, Mapping
from types import MappingProxyType

from tests.isolation.root_folders import Apt

#: What docs/machines.md asks for; on Debian a script of the package makes the names `awk` and `sh`.
_PROGRAMS = ("bash", "coreutils", "diffutils", "findutils", "git", "grep", "gzip", "libc-bin", "sed", "tar", "python3")
_NAMES = MappingProxyType({"awk": "gawk", "sh": "bash"})
_PASSWD = "root:x:0:0::/root:/bin/bash\nuser:x:1000:1000::/home/user:/bin/bash\n"
_UBUNTU = """Types: deb
URIs: http://archive.ubuntu.invalid/ubuntu
Suites: noble noble-updates
Components: main universe
"""
_DONE = "made"
#: The user of the runs, and one without an entry in passwd.
USER, STRANGER = 1000, 1001
#: Below a root folder: the clone, whose path has a blank and letters beyond ASCII; a folder of caches; archives.
CLONES, CACHES, ARCHIVES = "work/Käse Ordner/日本", "var/cache/user", "srv/archives"


@dataclasses.dataclass(frozen=True)
class Host:
    """One stand-in.

    Attributes:
      name: for the command line and the table.
      stands_for: machines that are like it for bazelw.
      system: content of /etc/os-release.
      suite: suite or code name of Debian whose packages, and whose C library, it has.
      packages: packages to unpack, with what they depend on.
      apt: content of apt's sources; "" for a host without apt and dpkg.
      programs: the only programs it has; empty for all of the packages.
      certificates: where it has the certificate authorities.
    """

    name: str
    stands_for: str
    system: str
    suite: str = "testing"
    packages: tuple[str, ...] = (*_PROGRAMS, "gawk")
    apt: str = ""
    programs: tuple[str, ...] = ()
    certificates: str = "etc/ssl/certs/ca-certificates.crt"


HOSTS: Mapping[str, Host] = MappingProxyType(
    {
        host.name: host
        for host in (
            Host(
                "without_apt",
                "Fedora, Arch",
                'NAME="Fedora Linux"\nID=fedora\n',
                certificates="etc/pki/tls/certs/ca-bundle.crt",
            ),
            Host("other_apt", "Ubuntu", "NAME=Ubuntu\nID=ubuntu\n", packages=(*_PROGRAMS, "gawk", "apt"), apt=_UBUNTU),
            Host("old_glibc", "Ubuntu 22.04", "NAME=Ubuntu\nID=ubuntu\n", suite="bullseye"),
            Host("bare", "a small container", "NAME=small\n", programs=("bash", "sh", "python3", "python3.*")),
        )
    }
)


def make(host: Host, folder: pathlib.Path, apt: Callable[[str], Apt]) -> pathlib.Path:
    """The root folder of a host, `folder`/<name>; one that is complete is left as it is.

    Args:
      apt: apt for a suite.
    """
    root = folder / host.name
    if (root / _DONE).exists():
        return root
    shutil.rmtree(root, ignore_errors=True)
    apt(host.suite).unpack(host.packages, root)
    strip(host, root)
    for name in ("dev", "proc", "sys", "tmp", ARCHIVES, CLONES, CACHES, "home/user"):
        (root / name).mkdir(parents=True, exist_ok=True)
    (root / "tmp").chmod(0o777)
    for name in (CACHES, "home/user"):
        shutil.chown(root / name, USER, USER)
    (root / CACHES).chmod(0o777)
    bundle = root / host.certificates
    bundle.parent.mkdir(parents=True, exist_ok=True)
    bundle.touch()
    (root / _DONE).touch()
    return root


def strip(host: Host, root: pathlib.Path) -> None:
    """Removes what the host does not have, and writes what tells the distributions apart."""
    programs = root / "usr/bin"
    for name, target in _NAMES.items():
        if (programs / target).exists() and not (programs / name).exists():
            (programs / name).symlink_to(target)
    removed = ["etc/apt", "etc/ssl/certs"]
    if not host.apt:
        removed += ["var/lib/dpkg", "var/lib/apt", "usr/share/dpkg", "usr/lib/apt"]
        for pattern in ("apt*", "dpkg*"):
            for path in programs.glob(pattern):
                path.unlink()
    for name in removed:
        shutil.rmtree(root / name, ignore_errors=True)
    if host.programs:
        kept = {path for pattern in host.programs for path in programs.glob(pattern)}
        for path in set(programs.iterdir()) - kept:
            path.unlink()
        shutil.rmtree(root / "usr/sbin")
        (root / "usr/sbin").mkdir()
    (root / "etc").mkdir(exist_ok=True)
    files = {"etc/os-release": host.system, "etc/passwd": _PASSWD, "etc/group": "root:x:0:\nuser:x:1000:\n"}
    if host.apt:
        files["etc/apt/sources.list.d/ubuntu.sources"] = host.apt
    for name, text in files.items():
        path = root / name
        path.unlink(missing_ok=True)
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
