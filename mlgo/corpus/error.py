"""The error of everything that reads or writes a corpus. By itself, so that storage and reader can both raise it."""

from mlgo.run.exit_codes import ExitCode, RunError

MAKE_IT_AGAIN = "make the corpus again, or give another one"


class CorpusError(RunError):
    """A corpus cannot be used; the message says which file, what is wrong with it, what to do."""

    def __init__(
        self, subject: str, wrong: str, remedy: str = MAKE_IT_AGAIN, exit_code: ExitCode = ExitCode.USER_ERROR
    ):
        super().__init__(subject, wrong, remedy, exit_code)
