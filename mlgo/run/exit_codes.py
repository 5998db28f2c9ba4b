"""The exit codes of every mlgo command and the error that carries one.

`bazel run` returns a command's exit code. Bazel's own codes are below 10 and from 32 on, so the codes for errors in the
input are between 10 and 31.
"""

from __future__ import annotations

import enum


class ExitCode(enum.IntEnum):
    """Result of a command."""

    DONE = 0  #: Everything asked for was done.
    INTERNAL_ERROR = 1  #: A defect in mlgo; the traceback is shown.
    #: A flag, a file or the machine does not meet the command's requirements; the message says what to change.
    USER_ERROR = 2
    NOTHING_PRODUCED = 10  #: The input was empty, or the command produced nothing from it.
    TOO_MANY_FAILURES = 11  #: More modules failed than the failure limit allows.
    OUTPUT_DIFFERS = 12  #: An output differs from its reference.
    #: Ctrl-C or SIGTERM; the same command resumes where it stopped (128 + SIGINT, as in shells).
    INTERRUPTED = 130


class RunError(Exception):
    """An error the user can act on: what was read, with file, flag or offset; what is wrong with it; and what to do."""

    def __init__(self, subject: str, wrong: str, remedy: str, exit_code: ExitCode = ExitCode.USER_ERROR):
        super().__init__(f"{subject}: {wrong}. {remedy}")
        self.subject, self.wrong, self.remedy, self.exit_code = subject, wrong, remedy, exit_code
