"""Ends a command with its exit code and, after an error, with one line on stderr."""

import os
import signal
import sys
from collections.abc import Callable

from mlgo.run.exit_codes import ExitCode, RunError
from mlgo.run.printable import printable_message

#: Last line of an interrupted command that can be resumed.
RESUMABLE = "interrupted; run the same command again to resume"


def exit_code_of(work: Callable[[], int | None], interrupted: str = "interrupted") -> int:
    """Runs `work` and returns its exit code (None: 0), or the exit code of the error or interruption that ended it.

    SIGTERM has the same effect as Ctrl-C. Either prints `interrupted`.
    """
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
