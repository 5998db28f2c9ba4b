"""Unpacks one folder of a Debian package: part --output DIR --prefix=usr/lib/x [--exclude=PATTERN] A.deb

Only regular files and links within the folder; modes are 0644 or 0755. An empty result is an error.
"""

import pathlib
import sys

import unpack

from mlgo.run.exit import exit_code_of
from mlgo.run.exit_codes import RunError
from release.packaging import deb
from release.packaging.arguments import tool_parser


def extract(archive: str, prefix: str, exclude: list[str], output: pathlib.Path) -> None:
    """Unpacks the files below `prefix` to `output`.

    Raises: RunError: there is none, one is a link, or the archive cannot be read.
    """
    count = 0
    for info, content in deb.members(archive):
        path = info.name.removeprefix(prefix + "/")
        if path == info.name or info.isdir() or unpack.matches(path, exclude):
            continue
        if not info.isfile():
            raise RunError(f"{pathlib.Path(archive).name}: {info.name}", "is a link", "Leave it out with --exclude")
        target = output / path
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(content)
        target.chmod(0o755 if info.mode & 0o111 else 0o644)
        count += 1
    if not count:
        raise RunError(pathlib.Path(archive).name, f"has no file below {prefix}", "Correct --prefix")


def main(arguments: list[str]) -> int:
    parser = tool_parser(__doc__)
    parser.add_argument("--prefix", required=True, help="the folder, relative to the root")
    parser.add_argument("--exclude", action="append", default=[], help="shell pattern of paths below it to leave out")
    parser.add_argument("package", metavar="DEB")
    flags = parser.parse_args(arguments)
    return exit_code_of(lambda: extract(flags.package, flags.prefix, flags.exclude, flags.output))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
