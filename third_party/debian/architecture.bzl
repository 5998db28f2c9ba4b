"""The architecture of the host, for which packages are unpacked, and the part of the lock that holds its packages.

`MLGO_HOST_ARCHITECTURE` (a repository environment variable) names another host than this machine, so that the analysis for
an arm64 host is tested on an x86-64 one. `{multiarch}` and `{cpu}` in tags and in BUILD files of repositories stand for the
folder of libraries and the processor: `x86_64-linux-gnu` and `x86_64`, or `aarch64-linux-gnu` and `aarch64`.
"""

HOST_VARIABLE = "MLGO_HOST_ARCHITECTURE"

# The lock holds the packages of the first in full; architectures.py has the same table.
ARCHITECTURES = [
    struct(
        name = "amd64",
        machines = ["amd64", "x86_64"],
        cpu = "x86_64",
        multiarch = "x86_64-linux-gnu",
    ),
    struct(
        name = "arm64",
        machines = ["arm64", "aarch64"],
        cpu = "aarch64",
        multiarch = "aarch64-linux-gnu",
    ),
]

AMD64 = ARCHITECTURES[0]

def unknown_architecture(origin, asked):
    """The error for an architecture that no packages are pinned for.

    Args:
        origin: where its name was read.
        asked: its name.
    Returns: one sentence.
    """
    return "{}={}: no packages are pinned for this architecture; choose one of {}".format(
        origin,
        asked,
        ", ".join([architecture.name for architecture in ARCHITECTURES]),
    )

def absent_package(kind, name, architecture):
    """The error for a package that the architecture does not have.

    Args:
        kind: "package".
        name: its name.
        architecture: of ARCHITECTURES.
    Returns: one sentence.
    """
    return ("third_party/debian/lock.json: Debian has no {} {} for {}; build on another host, or take it out of " +
            "packages.json and MODULE.bazel").format(kind, name, architecture.name)

def architecture_named(origin, asked):
    """(entry of ARCHITECTURES, None), or (None, one sentence).

    Args:
        origin: where the name was read, for the sentence.
        asked: the name, in any of its spellings.
    """
    for architecture in ARCHITECTURES:
        if asked in architecture.machines:
            return architecture, None
    return None, unknown_architecture(origin, asked)

def host_architecture(machine, environ):
    """The host's: what HOST_VARIABLE names, else this machine's.

    Args:
        machine: `os.arch` of Bazel.
        environ: dict of environment variables.
    Returns: (entry of ARCHITECTURES, None), or (None, one sentence).
    """
    if environ.get(HOST_VARIABLE):
        return architecture_named(HOST_VARIABLE, environ[HOST_VARIABLE])
    return architecture_named("the machine", machine)

def filled_for(architecture, value):
    """`value`, a string or a list of strings, with `{multiarch}` and `{cpu}` replaced; anything else unchanged.

    Args:
        architecture: of ARCHITECTURES.
        value: any value.
    Returns: a value of the same type.
    """
    if type(value) == "list":
        return [_filled_string(architecture, item) if type(item) == "string" else item for item in value]
    return _filled_string(architecture, value) if type(value) == "string" else value

def _filled_string(architecture, value):
    return value.replace("{multiarch}", architecture.multiarch).replace("{cpu}", architecture.cpu)

def lock_of(lock, architecture):
    """The lock of a host, in the form of amd64's: `packages`, `sources` and `groups`, each entry in full.

    Args:
        lock: decoded lock.json; lockfile.py describes its form.
        architecture: of ARCHITECTURES.
    Returns: (dict, None), or (None, one sentence). An entry is None where the architecture lacks the package.
    """
    if architecture == AMD64:
        return lock, None
    found = lock.get("architectures", {}).get(architecture.name)
    if not found:
        return None, "third_party/debian/lock.json: no packages for {}; run ./bazelw run //third_party/debian:lock -- --only_missing".format(architecture.name)
    return {
        "groups": _tables(found["groups"], lock["groups"], architecture),
        "packages": _tables(found["packages"], lock["packages"], architecture),
        "sources": lock["sources"],
    }, None

def _tables(tables, amd64, architecture):
    return {
        table: {
            name: None if differences == None else _stand_in(amd64.get(table, {}).get(name, {}), architecture) | differences
            for name, differences in entries.items()
        }
        for table, entries in tables.items()
    }

def _stand_in(entry, architecture):
    """The fields that a package has unless the lock says otherwise."""
    ending = "_{}.deb".format(AMD64.name)
    if not entry.get("path", "").endswith(ending):
        return entry
    return dict(entry, path = entry["path"].removesuffix(ending) + "_{}.deb".format(architecture.name))
