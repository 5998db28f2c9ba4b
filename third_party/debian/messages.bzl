"""What the repository rules say when they fail, as functions that a test reads."""

def missing_entry(kind, asked, known):
    """The error for a name that lock.json does not hold.

    Args:
        kind: "package" or "source".
        asked: the name asked for.
        known: list of the names there are.
    Returns: one sentence: what was asked, what there is, the cure.
    """
    return "third_party/debian/lock.json: no {} {}; known: {}. Add it to packages.json and run ./bazelw run //third_party/debian:lock".format(
        kind,
        asked,
        ", ".join(sorted(known)) or "none",
    )

def no_python():
    """The error for a machine without python3."""
    return "third_party/debian: no python3 on PATH, and the downloader is a Python program; install the package python3"

def failed(repository, stderr):
    """The error for a repository that could not be made.

    Args:
        repository: its name.
        stderr: what the downloader printed: how far it was, line by line, and last what went wrong.
    Returns: the downloader's own sentence, and which repository it was for.
    """
    return "@{}: {}".format(repository, stderr.strip().split("\n")[-1] or "the downloader ended without a word; run it again")
