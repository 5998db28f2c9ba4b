"""Ends a command with its exit code and, after an error, with one line on stderr."""

from __future__ import annotations

import codecs
import io
import os
import signal
import sys
from collections.abc import Callable

from mlgo.run.exit_codes import ExitCode, RunError
from mlgo.run.printable import printable_message

#: Last line of an interrupted command that can be resumed.
RESUMABLE = "interrupted; run the same command again to resume"
_ANY_NAME = "mlgo.any_name"


def exit_code_of(work: Callable[[], int | None], interrupted: str = "interrupted") -> int:
    """Runs `work` and returns its exit code (None: 0), or that of the error, Ctrl-C or SIGTERM that ended it.

    An interruption prints `interrupted`. From here on, stdout takes any file name in any locale.
    """
    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(errors=_ANY_NAME)
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    try:
        code = int(work() or ExitCode.DONE)
        sys.stdout.flush()
        return code
    except RunError as error:
        print(printable_message(f"error: {error}"), file=sys.stderr)
        return int(error.exit_code)
    except KeyboardInterrupt:
        print(interrupted, file=sys.stderr)
        return int(ExitCode.INTERRUPTED)
    except BrokenPipeError:
        # The reader of stdout, such as `head`, has closed it. Python would report the error again at exit.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return int(ExitCode.DONE)


def _encoded(error: UnicodeError) -> tuple[str | bytes, int]:
    """One character that the locale does not have: a byte of a file name as this byte, others as \\xNN or \\uNNNN."""
    if not isinstance(error, UnicodeEncodeError):
        raise error
    error.end = error.start + 1
    try:
        return codecs.lookup_error("surrogateescape")(error)
    except UnicodeEncodeError:
        return codecs.lookup_error("backslashreplace")(error)


codecs.register_error(_ANY_NAME, _encoded)
