"""The exit codes of every mlgo command and the error that carries one.

`bazel run` returns a command's exit code. Bazel's own codes are below 10 and from 32 on, so the codes for errors in the
input are between 10 and 31.
"""

from __future__ import annotations

import enum


class ExitCode(enum.IntEnum):
    """Result of a command."""

    #: Everything asked for was done.
    DONE = 0
    #: A defect in mlgo; the traceback is shown.
    INTERNAL_ERROR = 1
    #: A flag, a file or the machine does not meet the command's requirements; the message says what to change.
    USER_ERROR = 2
    #: The input was empty, or the command produced nothing from it.
    NOTHING_PRODUCED = 10
    #: More modules failed than the failure limit allows.
    TOO_MANY_FAILURES = 11
    #: An output differs from its reference.
    OUTPUT_DIFFERS = 12
    #: Ctrl-C or SIGTERM; the same command resumes where it stopped (128 + SIGINT, as in shells).
    INTERRUPTED = 130


class RunError(Exception):
    """An error the user can act on, in three parts.

    Attributes:
      subject: what was read, with file, flag or offset: "--train_corpus=/data/corpus".
      wrong: what is wrong with it: "holds no module".
      remedy: what to do: "build it with ...".
      exit_code: exit code of the command when the error is not handled.
    """

    def __init__(self, subject: str, wrong: str, remedy: str, exit_code: ExitCode = ExitCode.USER_ERROR):
        super().__init__(f"{subject}: {wrong}. {remedy}")
        self.subject = subject
        self.wrong = wrong
        self.remedy = remedy
        self.exit_code = exit_code
