"""Finds Debian mirrors: those of the user first, then those of the machine's apt configuration, then Debian's own.

This project names no mirror. A Debian machine that can run `apt-get update` has one; elsewhere python-apt, which most
installations of Ubuntu have, names Debian's, and so does a package of pip's index.
"""

import dataclasses
import glob
import os
import pathlib
import re
import urllib.parse
from typing import Callable, List, Mapping, Optional, Sequence

ENVIRONMENT_VARIABLE = "MLGO_DEBIAN_MIRRORS"
#: Set by the launcher for --debian_mirror, which comes before all others.
OPTION_VARIABLE = "MLGO_DEBIAN_MIRROR_OPTION"
APT_ETC = "/etc/apt"
#: What python-apt knows of Debian's archive, on every distribution that has it.
DEBIAN_TEMPLATE = "/usr/share/python-apt/templates/Debian.info"


class MirrorError(Exception):
    """No mirror is known; the message says how to name one."""


@dataclasses.dataclass(frozen=True)
class AptSource:
    """One `deb` line: a base URI and the suites it is used for."""

    uri: str
    suites: Sequence[str]


def directory(base: str) -> Optional[pathlib.Path]:
    """The directory that a mirror is, named by its path or as file:/path or file:///path; None for an address."""
    if base.startswith("file:"):
        return pathlib.Path(urllib.parse.unquote(urllib.parse.urlsplit(base).path))
    return None if "://" in base else pathlib.Path(base)


def from_environment(environ: Mapping[str, str]) -> List[str]:
    """Mirrors of --debian_mirror, then of MLGO_DEBIAN_MIRRORS: URLs or directories, separated by commas or white space.

    A directory with a blank or a comma in its name is given as file:///with%20blank.
    """
    named = [environ.get(name, "") for name in (OPTION_VARIABLE, ENVIRONMENT_VARIABLE)]
    return [word.rstrip("/") for word in re.split(r"[,\s]+", " ".join(named)) if word]


def is_dated(base: str) -> bool:
    """Whether a mirror is the archive at one time stamp; these keep every file, and are slow and asked last."""
    return bool(re.search(r"/\d{8}T\d{6}Z\Z", base))


def parse_one_line(text: str) -> List[AptSource]:
    """Parses a `sources.list`; skips types other than `deb`, and broken lines, which apt reports."""
    found: List[AptSource] = []
    for line in text.splitlines():
        match = re.match(r"\s*deb\s+(?:\[[^\]]*\]\s*)?(\S+)\s+(\S+)", line)
        if match:
            found.append(AptSource(match.group(1).rstrip("/"), (match.group(2),)))
    return found


def parse_deb822(text: str) -> List[AptSource]:
    """Parses a `.sources` file (stanzas of `Key: value`, continuation lines indented)."""
    found: List[AptSource] = []
    for stanza in re.split(r"\n\s*\n", text):
        fields, key = {}, None
        for line in stanza.splitlines():
            if line.startswith("#"):
                continue
            if line[:1].isspace() and key:
                fields[key] += " " + line.strip()
            elif ":" in line:
                key, value = line.split(":", 1)
                key = key.strip().lower()
                fields[key] = value.strip()
        if "deb" not in fields.get("types", "").split() or fields.get("enabled", "yes").lower() in ("no", "false", "0"):
            continue
        suites = tuple(fields.get("suites", "").split())
        found.extend(AptSource(uri.rstrip("/"), suites) for uri in fields.get("uris", "").split())
    return found


def apt_sources(etc: str = APT_ETC) -> List[AptSource]:
    """Every `deb` source of the machine's apt configuration, in apt's own order."""
    found = []
    for name in [os.path.join(etc, "sources.list")] + sorted(glob.glob(os.path.join(etc, "sources.list.d", "*"))):
        path = pathlib.Path(name)
        if path.suffix not in (".list", ".sources") or not path.is_file():
            continue
        text = path.read_text(encoding="utf-8", errors="replace")
        found.extend(parse_deb822(text) if path.suffix == ".sources" else parse_one_line(text))
    return found


def is_debian(source: AptSource) -> bool:
    """Whether a source is a Debian archive (not a vendor's repository): its base ends in debian or debian-security."""
    return bool(re.search(r"/debian(-security)?(/\d{8}T\d{6}Z)?$", source.uri)) and source.uri.startswith(
        ("http", "file")
    )


def of_template(path: str = DEBIAN_TEMPLATE) -> List[str]:
    """Debian's own archives as python-apt's template of its suites names them, each once; none without the file."""
    try:
        text = pathlib.Path(path).read_text(encoding="utf-8", errors="replace")
    except OSError:
        return []
    named = [AptSource(uri.rstrip("/"), ()) for uri in re.findall(r"^BaseURI:\s*(\S+)\s*$", text, re.M)]
    return list(dict.fromkeys(source.uri for source in named if is_debian(source)))


def of_package(environ: Mapping[str, str]) -> List[str]:
    """Debian's own archive as a package of pip's index names it.

    Raises:
        MirrorError: why it cannot be had.
    """
    import mirror_package  # Not in DOWNLOADER: a change of it makes no repository anew.

    try:
        return mirror_package.bases(environ)
    except mirror_package.PackageError as error:
        raise MirrorError(str(error)) from None


def find_mirrors(
    environ: Mapping[str, str],
    etc: str = APT_ETC,
    template: str = DEBIAN_TEMPLATE,
    package: Callable[[Mapping[str, str]], List[str]] = of_package,
) -> List[str]:
    """Bases to try, in order: the environment's, then apt's, each once; those with a time stamp last.

    Where neither names one, Debian's own.

    Raises:
        MirrorError: there is none.
    """
    bases = from_environment(environ) + [source.uri for source in apt_sources(etc) if is_debian(source)]
    try:
        bases = bases or of_template(template) or package(environ)
    except MirrorError as error:
        raise MirrorError(
            f"no Debian mirror: {ENVIRONMENT_VARIABLE} is not set, neither {etc} nor {template} names one, and the "
            f"package of pip's index that does cannot be had ({error}). Give the "
            "URL of a mirror, or a directory made by //third_party/debian:mirror, with ./bazelw --debian_mirror=URL, "
            f"or in user.bazelrc with common --repo_env={ENVIRONMENT_VARIABLE}=URL"
        ) from None
    return sorted(dict.fromkeys(bases), key=is_dated)
