"""The launcher's one exception and the shape of its text."""


class LauncherError(Exception):
    """Something the user must know, in three parts: what was read, what is wrong with it, what to do."""

    def __init__(self, what: str, wrong: str, remedy: str):
        super().__init__(f"{what}: {wrong}. {remedy}")
