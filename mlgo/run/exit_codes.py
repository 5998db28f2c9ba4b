"""The exit codes of every mlgo command and the error that carries one.

`bazel run` passes a command's exit code on. Bazel's own codes lie below 10 and from 32, so ours for "the input was the
problem" lie between.
"""

import enum


class ExitCode(enum.IntEnum):
    """How a command ended."""

    #: Everything asked for was done.
    DONE = 0
    #: A defect of mlgo itself; the traceback is shown.
    INTERNAL_ERROR = 1
    #: A flag, a file or the machine is not as the command needs it; the message says what to change.
    USER_ERROR = 2
    #: The input was empty, or nothing came out of it.
    NOTHING_PRODUCED = 10
    #: More modules failed than the failure limit allows.
    TOO_MANY_FAILURES = 11
    #: An output differs from what it was compared with.
    OUTPUT_DIFFERS = 12
    #: Ctrl-C or SIGTERM; the same command goes on where it stopped (128 + SIGINT, as shells count).
    INTERRUPTED = 130


class RunError(Exception):
    """An error the user can act on, in three parts.

    Attributes:
      subject: what was read, with file, flag or offset: "--train_corpus=/data/corpus".
      wrong: what is wrong with it: "holds no module".
      remedy: what to do about it: "build it with ...".
      exit_code: how the command ends when nobody handles this.
    """

    def __init__(self, subject: str, wrong: str, remedy: str, exit_code: ExitCode = ExitCode.USER_ERROR):
        super().__init__(f"{subject}: {wrong}. {remedy}")
        self.subject = subject
        self.wrong = wrong
        self.remedy = remedy
        self.exit_code = exit_code
