"""Error messages of the repository rules, as functions that a test reads."""

_SILENT = "the interpreter printed nothing; it needs a Linux with glibc >= 2.36 (Debian 12) on the processor it is for"

def install_failed(repository, stderr):
    """The error for a site that could not be made.

    Args:
        repository: its name.
        stderr: what the installer printed.
    Returns: the repository and the error of the installer.
    """
    return "@{}: {}".format(repository, stderr.strip() or _SILENT)

def compile_failed(repository, stderr):
    """The error for an interpreter that could not be prepared.

    Args:
        repository: its name.
        stderr: what the interpreter printed.
    Returns: the repository and the error of the interpreter.
    """
    return "@{}: {}".format(repository, stderr.strip() or _SILENT)
