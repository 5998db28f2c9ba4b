"""How a command ends: the exit code of what it did, and one line on stderr when it could not do it."""

import os
import signal
import sys
from collections.abc import Callable

from mlgo.run.exit_codes import ExitCode, RunError

#: What a command says that goes on where it was stopped.
RESUMABLE = "interrupted; the same command goes on from here"


def exit_code_of(work: Callable[[], int], interrupted: str = "interrupted") -> int:
    """Runs `work`; returns its exit code, or that of the error or interruption which ended it.

    SIGTERM ends it as Ctrl-C does, and then `interrupted` is said.
    """
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    try:
        code = int(work())
        sys.stdout.flush()
        return code
    except RunError as error:
        print(f"error: {error}", file=sys.stderr)
        return int(error.exit_code)
    except KeyboardInterrupt:
        print(interrupted, file=sys.stderr)
        return int(ExitCode.INTERRUPTED)
    except BrokenPipeError:
        # Whoever read stdout, such as `head`, wants no more; Python would complain once more when it closes it.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return int(ExitCode.DONE)
