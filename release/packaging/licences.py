"""Collects the licences of a compiler's components: one text per package, and the common texts that they refer to.

    licences --output=DIR --common=base-files.deb --package=zlib=zlib1g-dev.deb --text=mlgo=LICENSE

DIR receives NAME.txt for each package (its usr/share/doc/*/copyright), and --text, and common/ with the texts of
/usr/share/common-licenses that any of them names. A package without a text is an error: nothing is shipped without its
licence.
"""

import os
import pathlib
import re
import sys
import tarfile
from collections.abc import Iterable, Mapping

from mlgo.run.exit import exit_code_of
from mlgo.run.exit_codes import RunError
from mlgo.run.files import write_atomically
from release.packaging import deb
from release.packaging.arguments import pair, tool_parser

_COMMON = "usr/share/common-licenses/"
# Ends at a letter or digit, so that it excludes the full stop of a sentence.
_REFERENCE = re.compile(r"/usr/share/common-licenses/([A-Za-z0-9.+-]*[A-Za-z0-9])")


def package_licence(archive: str | os.PathLike[str]) -> str:
    """The licence text of a .deb file.

    Raises: RunError: the package has no copyright file of its own, or cannot be read.
    """
    path = f"usr/share/doc/{deb.package_name(archive)}/copyright"
    for info, content in deb.members(archive):
        if info.name == path and info.isfile():
            return content.decode("utf-8")
    raise RunError(pathlib.Path(archive).name, f"has no {path}", "Name the package its documentation links to instead")


def common_texts(archive: str | os.PathLike[str]) -> dict[str, str]:
    """name -> text of Debian's common licences, links resolved, from the package base-files."""
    texts, links = {}, {}
    for info, content in deb.members(archive):
        if info.name.startswith(_COMMON):
            name = info.name.removeprefix(_COMMON)
            if info.type == tarfile.SYMTYPE:
                links[name] = info.linkname
            elif info.isfile():
                texts[name] = content.decode("utf-8")
    return {**texts, **{name: texts[target] for name, target in links.items()}}


def referenced(texts: Iterable[str]) -> set[str]:
    """Names of the common licences that texts point to."""
    return {match[1] for text in texts for match in _REFERENCE.finditer(text)}


def collect(output: pathlib.Path, texts: Mapping[str, str], common: Mapping[str, str]) -> None:
    """Writes the texts and the common ones they refer to.

    Raises: RunError: a text refers to a common licence that is not there.
    """
    for name, text in sorted(texts.items()):
        write_atomically(output / f"{name}.txt", text.encode("utf-8"))
    for name in sorted(referenced(texts.values())):
        if name not in common:
            raise RunError(
                f"the licence {name}", "is referred to, and base-files has no such text", "Pin a base-files that has it"
            )
        write_atomically(output / "common" / f"{name}.txt", common[name].encode("utf-8"))


def main(arguments: list[str]) -> int:
    parser = tool_parser(__doc__)
    parser.add_argument("--common", required=True, help="the package base-files, for the texts that others refer to")
    parser.add_argument("--text", type=pair, action="append", default=[], help="NAME=FILE: a licence's text")
    parser.add_argument("--package", type=pair, action="append", default=[], help="NAME=DEB: a Debian package")
    flags = parser.parse_args(arguments)

    def write() -> None:
        texts = {name: package_licence(package) for name, package in flags.package}
        texts.update({name: pathlib.Path(path).read_text(encoding="utf-8") for name, path in flags.text})
        collect(flags.output, texts, common_texts(flags.common))

    return exit_code_of(write)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
