"""Another Debian 12 machine, for tests: programs run in a root directory of their own, on this machine's kernel.

`enter` calls chroot as root, or in a user namespace if the kernel allows one.
"""

import ctypes
import dataclasses
import os
import pathlib
import subprocess
import tarfile
from collections.abc import Mapping, Sequence

_CLONE_NEWUSER = 0x10000000  # linux/sched.h
LOADER = "usr/lib64/ld-linux-x86-64.so.2"


def unpack(archive: str | os.PathLike[str], root: pathlib.Path) -> None:
    """Unpacks a .tar.gz below `root` as tar does for an ordinary user: this user owns the files."""
    with tarfile.open(archive, "r:gz") as tar:
        for member in tar:
            if member.name.startswith("/") or ".." in member.name.split("/"):
                raise ValueError(f"{member.name} leaves the archive")
            member.uid, member.gid, member.uname, member.gname = os.getuid(), os.getgid(), "", ""
            tar.extract(member, root, numeric_owner=True)


def _own_namespace() -> None:
    """Makes this process root of a new user namespace."""
    uid, gid = os.getuid(), os.getgid()
    libc = ctypes.CDLL(None, use_errno=True)
    if libc.unshare(_CLONE_NEWUSER):
        raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()), "unshare")
    for name, text in (("setgroups", "deny"), ("uid_map", f"0 {uid} 1"), ("gid_map", f"0 {gid} 1")):
        with open(f"/proc/self/{name}", "w", encoding="ascii") as file:
            file.write(text)


@dataclasses.dataclass(frozen=True)
class Machine:
    """A root that can be entered.

    Attributes:
      root: its directory.
      in_namespace: whether entering requires a user namespace.
    """

    root: pathlib.Path
    in_namespace: bool

    def run(self, arguments: Sequence[str], folder: str = "/", environment: Mapping[str, str] | None = None) -> str:
        """Output of a command of the root, started in `folder` of it with an empty environment.

        Raises: AssertionError: the command failed; the message ends with its output.
        """

        def enter() -> None:
            if self.in_namespace:
                _own_namespace()
            os.chroot(self.root)
            os.chdir(folder)

        done = subprocess.run(
            list(arguments),
            env=dict(environment or {}),
            preexec_fn=enter,
            capture_output=True,
            text=True,
            timeout=300,
            check=False,
        )
        if done.returncode:
            raise AssertionError(f"{' '.join(arguments)}: {done.returncode}\n{(done.stdout + done.stderr)[-2000:]}")
        return done.stdout


def enter(root: pathlib.Path) -> tuple[Machine | None, str]:
    """(the machine, how it is entered), or (None, why it cannot be)."""
    reasons = []
    for in_namespace in (False, True):
        machine = Machine(root, in_namespace)
        try:
            machine.run(["/" + LOADER, "--version"])
            return machine, "user namespace" if in_namespace else "chroot"
        except (OSError, AssertionError, subprocess.SubprocessError) as error:
            reasons.append(f"{'user namespace' if in_namespace else 'chroot'}: {error}")
    return None, "; ".join(reasons)
