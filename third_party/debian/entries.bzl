"""What the module extensions take from the lock: the host's architecture, and entries for its repositories.

A fault ends the build with the error of architecture.bzl or messages.bzl.
"""

load(":architecture.bzl", "absent_package", "host_architecture", "lock_of")
load(":messages.bzl", "missing_entry")

# patchelf and the shared libraries that it needs besides glibc, which a machine need not have.
_PATCHELF = ["libgcc-s1", "libstdc++6", "patchelf"]

def host_of(context):
    """The host's architecture, of a module extension or repository rule that names HOST_VARIABLE in `environ`; fails without one."""
    found, error = host_architecture(context.os.arch, context.os.environ)
    if error:
        fail(error)
    return found

def machine_of(context):
    """The architecture of this machine, which runs the programs of repository rules; fails without one."""
    found, error = host_architecture(context.os.arch, {})
    if error:
        fail(error)
    return found

def entry_of(kind, name, table, architecture):
    """A lock entry as JSON with its name; fails when the lock lacks it.

    Args:
        kind: "package" or "source".
        name: its name.
        table: name -> entry, of a lock of the host's architecture.
        architecture: of ARCHITECTURES, for the message.
    Returns: string.
    """
    if name not in table:
        fail(missing_entry(kind, name, table.keys()))
    if table[name] == None:
        fail(absent_package(kind, name, architecture))
    return json.encode(dict(table[name], name = name))

def host_lock(pinned, architecture):
    """The lock of the host's architecture; fails when the lock holds nothing for it.

    Args:
        pinned: decoded lock.json.
        architecture: of ARCHITECTURES.
    Returns: dict, see lock_of.
    """
    lock, error = lock_of(pinned, architecture)
    if error:
        fail(error)
    return lock

def patchelf_entries(lock, machine):
    """The lock entries of the program that sets run paths; fails when the lock lacks one.

    Args:
        lock: of the machine's architecture.
        machine: of ARCHITECTURES, of the machine that runs the program.
    Returns: list of string, see entry_of.
    """
    return [entry_of("package", name, lock["packages"]["bookworm"], machine) for name in _PATCHELF]
