"""What the machine grants to compiles, as far as it could change their outcomes."""

import contextlib
import errno
import pathlib
import resource
from collections.abc import Iterator

from mlgo.compiler.request import CompileDisturbed, CompileLimits

#: Errors of system calls that say: not now, or not on this machine.
_SHORTAGES = frozenset({errno.ENOMEM, errno.EAGAIN, errno.EMFILE, errno.ENFILE, errno.EIO, errno.ESTALE})

#: /proc/sys/vm/overcommit_memory: the kernel grants no more memory than it has (proc(5)).
_STRICT = "2"


@contextlib.contextmanager
def recognised_shortages() -> Iterator[None]:
    """Around work of this process for a compile: what says that the machine lacks something is a CompileDisturbed."""
    try:
        yield
    except MemoryError as error:
        raise CompileDisturbed("this process has too little memory") from error
    except OSError as error:
        if not is_shortage(error):
            raise
        raise CompileDisturbed(f"this process met: {error.strerror}", str(error)) from error


def is_shortage(error: OSError) -> bool:
    """Whether the machine lacks what was asked for, so that trying again is worth it."""
    return error.errno in _SHORTAGES


def unusable_limits(limits: CompileLimits) -> str | None:
    """Why this machine cannot provide a compile's limits, or None. Failures would otherwise depend on the machine."""
    wanted = {"CPU": limits.cpu_seconds, "AS": limits.address_space_bytes, "FSIZE": limits.log_bytes}
    for name, value in ((f"RLIMIT_{kind}", value) for kind, value in wanted.items()):
        _, hard = resource.getrlimit(getattr(resource, name))
        if hard != resource.RLIM_INFINITY and hard < value:
            return f"its hard limit {name} is {hard}, and a compile may use {value}"
    return None


def may_have_refused(address_space_bytes: int, proc: pathlib.Path = pathlib.Path("/proc")) -> bool:
    """Whether the machine, and not the limit, may have refused memory to a compile that has ended.

    By default the kernel refuses no memory to a process within its limit; it kills later. Only with strict accounting
    it refuses, when less than a compile may use is left.
    """
    if (proc / "sys/vm/overcommit_memory").read_text(encoding="ascii").strip() != _STRICT:
        return False
    lines = (line.split() for line in (proc / "meminfo").read_text(encoding="ascii").splitlines())
    kilobytes = {words[0].rstrip(":"): int(words[1]) for words in lines}
    return (kilobytes["CommitLimit"] - kilobytes["Committed_AS"]) * 1024 < address_space_bytes
