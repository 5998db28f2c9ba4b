"""Tells programs that another process ended, such as the kernel without memory, from those that failed themselves."""

import signal

from mlgo.run.exit_codes import RunError

# Signals that a program can send to itself: by a defect, a limit of its own, or a system call that it may not make.
_OWN = frozenset(
    signal.Signals[name] for name in "SIGABRT SIGBUS SIGFPE SIGILL SIGSEGV SIGSYS SIGTRAP SIGXCPU SIGXFSZ".split()
)


class KilledFromOutside(RunError):
    """A program was ended from outside, which says nothing about its input."""

    def __init__(self, program: str, signal_name: str):
        super().__init__(
            f"program {program}",
            f"was ended from outside, by {signal_name}",
            "Look for what ends processes, such as too little memory (`dmesg`), and run the same command again",
        )


def name_of(number: int) -> str:
    """The name of a signal, such as "SIGKILL"."""
    return signal.Signals(number).name if number in set(signal.Signals) else f"signal {number}"


def from_outside(exit_code: int) -> str | None:
    """The signal from another process that ended a program (`exit_code`: minus its number); None: it ended itself."""
    return name_of(-exit_code) if exit_code < 0 and -exit_code not in _OWN else None


def check_not_killed(program: object, exit_code: int) -> None:
    """Args: program: for the message. Raises: KilledFromOutside: another process ended it."""
    if (name := from_outside(exit_code)) is not None:
        raise KilledFromOutside(str(program), name)
