"""Writes the archives of rule modules from Debian's packages, and the lines of MODULE.bazel that make Bazel use them.

    ./bazelw run //third_party/registry:vendor

Reads `modules.json`, and the packages of group `bazel` in //third_party/debian:lock.json. Writes
`archives/NAME-VERSION.tar`, the packages' digests into `packages.json`, and those of the archives into MODULE.bazel.
The same packages give the same bytes.
"""

import base64
import fnmatch
import hashlib
import io
import json
import os
import pathlib
import re
import sys
import tarfile
import tempfile
from typing import Dict, Mapping, Sequence

import fetch
import lockfile
import unpack

from toolchains.bazel import registry

GROUP = "bazel"
# Below it lie the folders of modules.json.
MODULES = "usr/share/bazel"
LICENCE = "usr/share/doc/{package}/copyright"
PACKAGES = "packages.json"

# A name that no server has: the archive is found by its name in the directory that .bazelrc gives as --distdir.
ADDRESS = "https://mlgo.invalid/"

# Lines of MODULE.bazel between which the overrides stand: include() is allowed in the root module alone.
_BEGIN = "# begin: written by ./bazelw run //third_party/registry:vendor\n"
_END = "# end: written by ./bazelw run //third_party/registry:vendor\n"
_ARCHIVE = """\
archive_override(
    module_name = "{name}",
    integrity = "{integrity}",
    urls = ["{address}{file}"],
)
"""
_STUB = """\
local_path_override(
    module_name = "{name}",
    path = "third_party/registry/stubs/{name}",
)
"""


def with_version(module_text: str, name: str, version: str) -> str:
    """The text of a MODULE.bazel whose module() says `version`; Debian's say 0.0.0 or their own."""
    call = re.search(r"^module\((.*?)\)", module_text, re.MULTILINE | re.DOTALL)
    if call is None:
        return f'module(name = "{name}", version = "{version}")\n' + module_text
    arguments, replaced = re.subn(r'version = "[^"]*"', f'version = "{version}"', call.group(1), count=1)
    if not replaced:
        arguments = arguments.rstrip().rstrip(",") + f',\n    version = "{version}",\n'
    return module_text[: call.start(1)] + arguments + module_text[call.end(1) :]


def files_of(folder: pathlib.Path, without: Sequence[str]) -> Dict[str, bytes]:
    """Path below `folder` -> content of each file that no shell pattern of `without` matches."""
    names = {path.relative_to(folder).as_posix(): path for path in folder.rglob("*") if path.is_file()}
    return {
        name: path.read_bytes()
        for name, path in names.items()
        if not any(fnmatch.fnmatchcase(name, pattern) for pattern in without)
    }


def tar_bytes(files: Mapping[str, bytes]) -> bytes:
    """A tar archive of the files, without dates and owners."""
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w", format=tarfile.USTAR_FORMAT) as tar:
        for name, content in sorted(files.items()):
            member = tarfile.TarInfo(name)
            member.size = len(content)
            tar.addfile(member, io.BytesIO(content))
    return buffer.getvalue()


def archives(modules: registry.Modules, tree: pathlib.Path) -> Dict[str, bytes]:
    """File name -> content of each archive.

    Args:
        tree: the packages, unpacked with their BUILD and MODULE files.
    Raises:
        KeyError: a package does not hold the folder that modules.json names.
    """
    made = {}
    for name, module in sorted(modules.modules.items()):
        files = files_of(tree / MODULES / module.folder, module.without)
        text = files[registry.MODULE_FILE].decode("utf-8")
        files[registry.MODULE_FILE] = with_version(text, name, module.version).encode("utf-8")
        files["LICENSE"] = (tree / LICENCE.format(package=module.package)).read_bytes()
        made[registry.archive_name(name, module)] = tar_bytes(files)
    return made


def overrides(modules: registry.Modules, contents: Mapping[str, bytes]) -> str:
    """The lines of MODULE.bazel that override the modules.

    Args:
        contents: file name -> content of each archive.
    """
    texts = {name: _STUB.format(name=name) for name in modules.stubs}
    for name, module in modules.modules.items():
        file = registry.archive_name(name, module)
        digest = base64.b64encode(hashlib.sha256(contents[file]).digest()).decode("ascii")
        texts[name] = _ARCHIVE.format(name=name, integrity="sha256-" + digest, address=ADDRESS, file=file)
    return "\n".join(texts[name] for name in sorted(texts))


def with_overrides(module_text: str, lines: str) -> str:
    """The text of MODULE.bazel with these lines in the place of the present overrides.

    Raises:
        ValueError: the marks are missing.
    """
    before, begin, rest = module_text.partition(_BEGIN)
    _, end, after = rest.partition(_END)
    if not begin or not end:
        raise ValueError(f"MODULE.bazel: lacks the line {_BEGIN.strip()!r} or {_END.strip()!r}; restore it from git")
    return before + begin + lines + end + after


def pinned(lock: lockfile.Lock, modules: registry.Modules) -> Dict[str, lockfile.Entry]:
    """Package name -> lock entry, of the packages that hold the modules."""
    names = {module.package for module in modules.modules.values()}
    return {entry.name: entry for entry in lock.group(GROUP) if entry.name in names}


def packages_text(entries: Mapping[str, lockfile.Entry]) -> str:
    """The text of `packages.json`: package name -> sha256 of the package that the archives were made from."""
    return json.dumps({name: entry.sha256 for name, entry in sorted(entries.items())}, indent=1) + "\n"


def main() -> int:
    root = pathlib.Path(os.environ["BUILD_WORKSPACE_DIRECTORY"])
    here = root / "third_party" / "registry"
    modules = registry.load(here / "modules.json")
    entries = pinned(lockfile.load(root / "third_party" / "debian" / "lock.json"), modules)
    with tempfile.TemporaryDirectory() as scratch:
        for path in fetch.fetch_with_environment(list(entries.values()), os.environ, fetch.to_stderr).values():
            unpack.unpack_deb(path, scratch, keep_bazel_files=True)
        contents = archives(modules, pathlib.Path(scratch))
    folder = here / registry.ARCHIVES
    folder.mkdir(exist_ok=True)
    for stale in set(os.listdir(folder)) - set(contents):
        (folder / stale).unlink()
    for name, content in contents.items():
        (folder / name).write_bytes(content)
    module_file = root / registry.MODULE_FILE
    text = with_overrides(module_file.read_text(encoding="utf-8"), overrides(modules, contents))
    module_file.write_text(text, encoding="utf-8")
    (here / PACKAGES).write_text(packages_text(entries), encoding="utf-8")
    total = sum(map(len, contents.values()))
    print(f"done {len(contents)} of {len(modules.modules)} modules, {total / 1e6:.1f} MB -> {folder}", file=sys.stderr)
    return 0


if __name__ == "__main__":
    sys.exit(main())
