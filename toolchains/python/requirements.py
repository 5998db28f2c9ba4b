"""Parses requirements.in, and parses, writes and compares requirements_lock.txt. Pure functions.

The lock is a pip requirements file, so that pip checks the digests:

    absl-py==2.5.1 \
        --hash=sha256:721200f2...
"""

import dataclasses
import re
from collections.abc import Iterable, Mapping

LOCK_COMMAND = "./bazelw run //toolchains/python:lock"
LOCK_HEADER = f"# Written by `{LOCK_COMMAND}` from {{origin}}: change that file, not this one.\n"

_NAME = r"[A-Za-z0-9](?:[A-Za-z0-9._-]*[A-Za-z0-9])?"
_REQUIREMENT = re.compile(rf"({_NAME})\s*((?:[=<>!~]=?=?\s*[A-Za-z0-9.*+!_-]+\s*,?\s*)*)")
_LOCKED = re.compile(rf"({_NAME})==([A-Za-z0-9.+!_-]+)((?:\s+--hash=sha256:[0-9a-f]{{64}})+)")
_OPTIONS = ("no-deps", "source")


class RequirementsError(Exception):
    """A requirements file that cannot be used; names file and line, what is wrong there, and what to do."""


@dataclasses.dataclass(frozen=True)
class Requirement:
    """One line of requirements.in.

    Attributes:
        name: the project's name, normalised (`tf-agents`).
        specifier: the versions allowed (`==0.19.0`), may be empty.
        with_dependencies: whether what it depends on is locked too.
        from_source: whether it is a source archive to unpack instead of a wheel.
    """

    name: str
    specifier: str
    with_dependencies: bool = True
    from_source: bool = False

    def __str__(self) -> str:
        return self.name + self.specifier


@dataclasses.dataclass(frozen=True)
class Request:
    """Everything requirements.in says, with normalised names.

    Attributes:
        left_out: dependencies that are not pinned.
    """

    requirements: tuple[Requirement, ...]
    left_out: frozenset[str]


@dataclasses.dataclass(frozen=True)
class Pin:
    """One package of the lock. `sha256` holds one hexadecimal digest for each archive that is accepted."""

    name: str
    version: str
    sha256: tuple[str, ...]


def normalised(name: str) -> str:
    """The name by which an index knows a project (PEP 503): `Bazel_Runfiles` is `bazel-runfiles`."""
    return re.sub(r"[-_.]+", "-", name).lower()


def parse_request(text: str, origin: str) -> Request:
    """Reads requirements.in.

    Args:
        text: the file's content.
        origin: its name, for messages.

    Raises:
        RequirementsError: a line is no requirement, or a project is named twice.
    """
    requirements: dict[str, Requirement] = {}
    left_out: set[str] = set()
    for number, line in enumerate(text.splitlines(), start=1):
        code, _, remark = (part.strip() for part in line.partition("#"))
        if not code:
            if remark.startswith("leave out:"):
                left_out.add(normalised(remark.removeprefix("leave out:").strip()))
            continue
        match = _REQUIREMENT.fullmatch(code)
        if not match:
            raise RequirementsError(
                f"{origin}, line {number}: {code!r} is not a requirement; write it as `name` or `name==version`"
            )
        name = normalised(match[1])
        if name in requirements:
            raise RequirementsError(f"{origin}, line {number}: {name} is listed twice; keep one of the two lines")
        options = {word.strip() for word in remark.partition(":")[0].split(",")} & set(_OPTIONS)
        requirements[name] = Requirement(name, match[2].replace(" ", ""), "no-deps" not in options, "source" in options)
    return Request(tuple(requirements.values()), frozenset(left_out))


def parse_lock(text: str, origin: str) -> dict[str, Pin]:
    """Reads requirements_lock.txt; the keys are normalised names.

    Raises:
        RequirementsError: a line lacks an exact version or a sha256, or a project is pinned twice.
    """
    pins: dict[str, Pin] = {}
    logical, start = "", 0
    for number, line in enumerate(text.splitlines(), start=1):
        line = line.partition("#")[0].strip()
        if not line:
            continue
        start = start if logical else number
        logical += " " + line.removesuffix("\\").strip()
        if line.endswith("\\"):
            continue
        match = _LOCKED.fullmatch(logical.strip())
        if not match:
            raise RequirementsError(
                f"{origin}, line {start}: {logical.strip()!r} has no exact version or no sha256; "
                f"write a new one with `{LOCK_COMMAND}`"
            )
        pin = Pin(normalised(match[1]), match[2], tuple(re.findall(r"[0-9a-f]{64}", match[3])))
        if pin.name in pins:
            raise RequirementsError(
                f"{origin}, line {start}: {pin.name} is pinned twice; write a new one with `{LOCK_COMMAND}`"
            )
        pins[pin.name] = pin
        logical = ""
    if logical:
        raise RequirementsError(
            f"{origin}, line {start}: the file ends after a backslash; write a new one with `{LOCK_COMMAND}`"
        )
    return pins


def render_lock(pins: Iterable[Pin], origin: str) -> str:
    """The text of a lock, sorted by name; `origin` is the file that asks for the packages."""
    blocks = [LOCK_HEADER.format(origin=origin)]
    for pin in sorted(pins, key=lambda p: p.name):
        hashes = " \\\n".join(f"    --hash=sha256:{digest}" for digest in sorted(pin.sha256))
        blocks.append(f"{pin.name}=={pin.version} \\\n{hashes}\n")
    return "".join(blocks)


def pins_of_report(report: Mapping, origin: str) -> dict[str, Pin]:
    """The pins in a report of `pip install --dry-run --report` (installation report, version 1).

    Raises:
        RequirementsError: a package came from where there is no sha256 (a directory, version control).
    """
    pins = {}
    for item in report.get("install", ()):
        name, version = normalised(item["metadata"]["name"]), item["metadata"]["version"]
        digest = item["download_info"].get("archive_info", {}).get("hashes", {}).get("sha256")
        if digest is None:
            raise RequirementsError(
                f"{origin}: {name} {version} was not found as an archive with a sha256; "
                "ask for a version that the package index offers as a file"
            )
        pins[name] = Pin(name, version, (digest,))
    return pins


def differences(old: Mapping[str, Pin], new: Mapping[str, Pin]) -> list[str]:
    """One line for each package that was added (`+`), removed (`-`) or changed (`~`), sorted by name."""
    lines = []
    for name in sorted({*old, *new}):
        if name not in old:
            lines.append(f"+ {name} {new[name].version}")
            continue
        if name not in new:
            lines.append(f"- {name} {old[name].version}")
            continue
        before, after = old[name], new[name]
        if before.version != after.version:
            lines.append(f"~ {name} {before.version} -> {after.version}")
        elif set(before.sha256) != set(after.sha256):
            lines.append(f"~ {name} {before.version}: another archive of the same version")
    return lines
