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

def newest_for_amd64(architecture):
    """The error for newest packages on a host of another architecture.

    Args:
        architecture: Debian's name of the host's.
    Returns: one sentence.
    """
    return ("--config=newest_packages: newest versions are resolved for amd64 only, and the host is of {}; name a mirror that has " +
            "the pinned archives with --debian_mirror=URL").format(architecture)
