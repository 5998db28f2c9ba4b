"""Faults of the machine for one process: system calls that fail, by a seccomp filter, and resource limits.

Each function returns a `preexec_fn` of `subprocess`, which holds for the program and its children.
"""

import ctypes
import errno
import os
import resource
import signal
import struct
from collections.abc import Callable

Fault = Callable[[], None]

#: Of the system calls, on x86-64.
_NUMBERS = {
    "clone": 56,
    "dup2": 33,
    "fcntl": 72,
    "getdents64": 217,
    "openat": 257,
    "pidfd_open": 434,
    "pipe2": 293,
    "prctl": 157,
    "sigaltstack": 131,
    "wait4": 61,
}
_PR_SET_NO_NEW_PRIVS, _PR_SET_SECCOMP, _SECCOMP_MODE_FILTER = 38, 22, 2
_LOAD, _EQUAL, _HAS_BITS, _RETURN = 0x20, 0x15, 0x45, 0x06
_ALLOW, _FAIL, _KILL = 0x7FFF0000, 0x00050000, 0x80000000
_OFFSET_OF_ARGUMENTS = 16

#: Arguments of calls that only a search makes.
PR_SET_PDEATHSIG, F_DUPFD_CLOEXEC, O_DIRECTORY = 1, 1030, os.O_DIRECTORY


def refuse(call: str, error: int, argument: tuple[int, int] | None = None, bits: bool = False) -> Fault:
    """Calls of `call` fail with `error`; with 0, they kill the process.

    Args: argument: only calls whose argument of this position (from 0) has this value; bits: or has these bits.
    """
    number = _NUMBERS[call]
    what = _KILL if error == 0 else _FAIL | error
    test = [(_LOAD, 0, 0, 0), (_EQUAL, 0, 3 if argument else 1, number)]
    if argument:
        position, value = argument
        test += [(_LOAD, 0, 0, _OFFSET_OF_ARGUMENTS + 8 * position), (_HAS_BITS if bits else _EQUAL, 0, 1, value)]
    program = [*test, (_RETURN, 0, 0, what), (_RETURN, 0, 0, _ALLOW)]
    code = ctypes.create_string_buffer(b"".join(struct.pack("HBBI", *one) for one in program))
    head = struct.pack("HxxxxxxP", len(program), ctypes.addressof(code))
    libc = ctypes.CDLL(None, use_errno=True)

    def install() -> None:
        assert code  # `head` points to it
        for words in ((_PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0), (_PR_SET_SECCOMP, _SECCOMP_MODE_FILTER, head, 0, 0)):
            if libc.prctl(*words) != 0:
                raise OSError(ctypes.get_errno(), "prctl")

    return install


def without_proc() -> Fault:
    """No folder can be listed, as if /proc were not mounted."""
    return refuse("openat", errno.ENOENT, (2, O_DIRECTORY), bits=True)


def limit(which: int, value: int) -> Fault:
    """A resource limit."""
    return lambda: resource.setrlimit(which, (value, value))


def closed_streams() -> None:
    """The parent closed the standard streams."""
    for stream in (0, 1, 2):
        os.close(stream)


def ignored_children() -> None:
    """The parent ignores SIGCHLD."""
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)
