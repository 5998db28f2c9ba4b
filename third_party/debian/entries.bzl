"""What the module extensions take from the lock: entries for their repositories. A fault ends the build with an error of messages.bzl."""

load(":messages.bzl", "missing_entry", "other_machine")

# patchelf and the shared libraries that it needs besides glibc, which a machine need not have.
_PATCHELF = ["libgcc-s1", "libstdc++6", "patchelf"]

def check_machine(mctx):
    """Fails on another machine than x86-64 Linux, before any download: the launcher is not there when stock Bazel builds."""
    error = other_machine(mctx.os.name, mctx.os.arch)
    if error:
        fail(error)

def entry_of(kind, name, table):
    """A lock entry as JSON with its name; fails when the lock lacks it.

    Args:
        kind: "package" or "source".
        name: its name.
        table: name -> entry, of the decoded lock.json.
    Returns: string.
    """
    if name not in table:
        fail(missing_entry(kind, name, table.keys()))
    return json.encode(dict(table[name], name = name))

def patchelf_entries(lock):
    """The lock entries of the program that sets run paths; fails when the lock lacks one.

    Args:
        lock: decoded lock.json.
    Returns: list of string, see entry_of.
    """
    return [entry_of("package", name, lock["packages"]["bookworm"]) for name in _PATCHELF]
