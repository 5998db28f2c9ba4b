"""Error messages of the repository rules, as functions that a test reads."""

def missing_entry(kind, asked, known):
    """The error for a name that lock.json does not hold.

    Args:
        kind: "package" or "source".
        asked: the name asked for.
        known: list of the names there are.
    Returns: one sentence: the name, the known names, the remedy.
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
        stderr: output of the downloader: progress lines, then the error.
    Returns: the repository and the error of the downloader.
    """
    return "@{}: {}".format(repository, stderr.strip().split("\n")[-1] or "the downloader printed no error; run it again")

def other_machine(name, arch):
    """The error for a machine that the pinned packages are not for.

    Args:
        name: `os.name` of Bazel.
        arch: `os.arch` of Bazel.
    Returns: one sentence, or None on x86-64 Linux.
    """
    if name == "linux" and arch in ["amd64", "x86_64"]:
        return None
    return "third_party/debian: the pinned packages are for Linux on x86-64, and this is {} on {}; build on another machine (docs/machines.md)".format(name, arch)
