"""Packs Debian packages into one file system: a gzip'ed tar that is a container's layer, or the root of a chroot.

    layer --output=root.tar.gz [--exclude=PATTERN] [--keep=PATTERN] [--link=PATH=TARGET] [--file=PATH=FILE] \\
        [--directory=MODE:OWNER:PATH] [--certificates] A.deb B.deb ...

No maintainer script runs; the flags name the results of such scripts that the layer needs: links of Debian's
alternatives, user tables, the bundle of certificates. Each package's control text goes to var/lib/dpkg/status.d/NAME,
where image scanners look for it. Equal packages give equal bytes: there are no time stamps or user names, and the order
is that of the flags.
"""

import argparse
import gzip
import io
import os
import pathlib
import posixpath
import re
import sys
import tarfile
from collections.abc import Sequence

import unpack

from mlgo.run.exit import exit_code_of
from mlgo.run.exit_codes import RunError
from release.packaging import deb
from release.packaging.arguments import pair, tool_parser

_CERTIFICATES = re.compile(r"usr/share/ca-certificates/.*\.crt\Z")
_BUNDLE = "etc/ssl/certs/ca-certificates.crt"
#: Measured on 40 MB of the compiler's root: level 9 takes 5.6 CPU seconds, 6 takes 1.3 for 1 % more bytes.
_GZIP_LEVEL = 6


class Layer:
    """A tar being written; every path once, parents before children.

    Args: output: a binary file; the caller closes it.
    """

    def __init__(self, output):
        self._gzip = gzip.GzipFile(filename="", mode="wb", fileobj=output, compresslevel=_GZIP_LEVEL, mtime=0)
        self._tar = tarfile.open(fileobj=self._gzip, mode="w", format=tarfile.PAX_FORMAT)
        self._owners: dict[str, str] = {}
        self._directories: set[str] = set()

    def add(self, info: tarfile.TarInfo, content: bytes, origin: str) -> None:
        """Adds one member; a directory that is there already is passed over.

        Raises: RunError: `origin` brings a path that another one has brought; names both.
        """
        if info.isdir() and info.name in self._directories:
            return
        if info.name in self._owners or info.name in self._directories:
            other = self._owners.get(info.name, "another package's directory")
            raise RunError(
                f"{origin}: {info.name}",
                f"is also in {other}",
                "Leave one of the two out with --exclude or out of the group",
            )
        self._add_parents(info.name)
        self._tar.addfile(info, io.BytesIO(content))
        if info.isdir():
            self._directories.add(info.name)
        else:
            self._owners[info.name] = origin

    def _add_parents(self, path: str) -> None:
        parent = posixpath.dirname(path)
        if parent and parent not in self._directories:
            self._add_parents(parent)
            self._tar.addfile(_member(parent, tarfile.DIRTYPE, 0o755))
            self._directories.add(parent)

    def close(self) -> None:
        self._tar.close()
        self._gzip.close()


def _member(path: str, kind: bytes, mode: int, size: int = 0, link: str = "", owner: int = 0) -> tarfile.TarInfo:
    info = tarfile.TarInfo(path)
    info.type, info.mode, info.size, info.linkname, info.mtime = kind, mode, size, link, deb.TIME_STAMP
    info.uid = info.gid = owner
    return info


def wanted(path: str, exclude: Sequence[str], keep: Sequence[str]) -> bool:
    """Whether a path stays: no pattern of `exclude` matches, or one of `keep` does."""
    return unpack.matches(path, exclude) is None or unpack.matches(path, keep) is not None


def write(
    output,
    packages: Sequence[str | os.PathLike[str]],
    exclude: Sequence[str] = (),
    keep: Sequence[str] = (),
    links: Sequence[tuple[str, str]] = (),
    files: Sequence[tuple[str, bytes]] = (),
    directories: Sequence[tuple[int, int, str]] = (),
    certificates: bool = False,
) -> None:
    """Writes the layer to the binary file `output`; the arguments are the flags' (directories: mode, owner, path).

    Raises: RunError: two packages contain the same path, certificates are requested and no package has any, or an
      archive cannot be read.
    """
    layer = Layer(output)
    for name in unpack.MERGED_INTO_USR:
        if not name.endswith("32"):
            layer.add(_member(f"usr/{name}", tarfile.DIRTYPE, 0o755), b"", "the layout")
            layer.add(_member(name, tarfile.SYMTYPE, 0o777, link=f"usr/{name}"), b"", "the layout")
    bundle: list[tuple[str, bytes]] = []
    for package in packages:
        origin = pathlib.Path(package).name
        for info, content in deb.members(package):
            if certificates and _CERTIFICATES.match(info.name):
                bundle.append((info.name, content))
            if wanted(info.name, exclude, keep):
                layer.add(info, content, origin)
        _add_file(
            layer, f"var/lib/dpkg/status.d/{deb.package_name(package)}", deb.control(package).encode("utf-8"), origin
        )
    if certificates:
        if not bundle:
            raise RunError(
                "--certificates",
                "is given, and no package has any below usr/share/ca-certificates",
                "Add ca-certificates",
            )
        _add_file(layer, _BUNDLE, b"".join(content for _, content in sorted(bundle)), "--certificates")
    for mode, owner, path in directories:
        layer.add(_member(path, tarfile.DIRTYPE, mode, owner=owner), b"", "--directory")
    for path, content in files:
        _add_file(layer, path, content, "--file")
    for path, target in links:
        layer.add(_member(path, tarfile.SYMTYPE, 0o777, link=target), b"", "--link")
    layer.close()


def _add_file(layer: Layer, path: str, content: bytes, origin: str) -> None:
    layer.add(_member(path, tarfile.REGTYPE, 0o644, size=len(content)), content, origin)


def _directory(text: str) -> tuple[int, int, str]:
    match = re.fullmatch(r"([0-7]{3,4}):(\d+):([^/].*)", text)
    if match is None:
        raise argparse.ArgumentTypeError(f"{text!r} is not MODE:OWNER:PATH with a path relative to the root")
    return int(match[1], 8), int(match[2]), match[3]


def main(arguments: list[str]) -> int:
    parser = tool_parser(__doc__)
    parser.add_argument("--exclude", action="append", default=[], help="shell pattern of paths to leave out")
    parser.add_argument(
        "--keep", action="append", default=[], help="shell pattern of paths that stay although excluded"
    )
    parser.add_argument("--link", type=pair, action="append", default=[], help="PATH=TARGET: a symbolic link to add")
    parser.add_argument("--file", type=pair, action="append", default=[], help="PATH=FILE: a file to add")
    parser.add_argument(
        "--directory", type=_directory, action="append", default=[], help="MODE:OWNER:PATH: a directory to add"
    )
    parser.add_argument("--certificates", action="store_true", help=f"write {_BUNDLE}")
    parser.add_argument("packages", metavar="DEB", nargs="+")
    flags = parser.parse_args(arguments)
    partial = flags.output.with_name(flags.output.name + ".partial")

    def build() -> None:
        with open(partial, "wb") as output:
            write(
                output,
                sorted(flags.packages, key=lambda path: pathlib.Path(path).name),
                exclude=flags.exclude,
                keep=flags.keep,
                links=flags.link,
                files=[(path, pathlib.Path(file).read_bytes()) for path, file in flags.file],
                directories=flags.directory,
                certificates=flags.certificates,
            )
        os.replace(partial, flags.output)

    return exit_code_of(build)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
