"""Program of the repository rule: extracts a part of Chromium's source from the compressed tarball, and patches it.

Reads one JSON object on standard input:
  lock        path of lock.json
  origin      "debian" or "upstream"
  include, exclude   as in third_party/debian/unpack.py
  unbundle    whether system libraries replace those that Debian removed
  patch_set   name in patch_sets.py; "" chooses by version
  patches     further patches of ours, by path
  patch_folder   path of patches/chromium
  patch       lock entry of the package `patch`
Output: source/, and source.json with the digests of its inputs. On an error: exit code 1 and one line on standard
error.
"""

import ast
import hashlib
import json
import os
import pathlib
import subprocess
import sys
import tarfile
import tempfile
from typing import Callable, Dict, List, Mapping, Sequence

import chromium_lock

# chromium_lock made third_party/debian importable.
import digests
import fetch
import lockfile
import mirrors
import patch_series
import patch_sets
import unpack
import versions

_SERIES = "debian/patches/series"
# Chromium's own table: library -> the gn file which stands in for its bundled source (build/linux/unbundle/README).
_UNBUNDLE = "build/linux/unbundle"
_UNBUNDLE_TABLE = f"{_UNBUNDLE}/replace_gn_files.py"


def series_patches(packaging: pathlib.Path) -> Dict[str, str]:
    """Debian's patches by name, in the order in which they apply.

    Patches are read as Latin-1, one character per byte, for some change files that are not text.

    Raises:
        PatchError: no series in the tarball, or one that names a patch which is not there.
    """
    texts: Dict[str, str] = {}
    with tarfile.open(packaging, mode="r|*") as tar:
        for member in tar:
            if member.isfile() and member.name.lstrip("./").startswith("debian/patches/"):
                texts[member.name.lstrip("./")] = unpack.content_of(tar, member).read().decode("latin-1")
    if _SERIES not in texts:
        raise patch_series.PatchError(f"{packaging.name}: has no {_SERIES}; fetch it again")
    names = patch_series.active(texts[_SERIES])
    absent = [name for name in names if f"debian/patches/{name}" not in texts]
    if absent:
        raise patch_series.PatchError(
            f"{packaging.name}: {_SERIES} names {absent[0]}, which is not in the tarball; fetch it again"
        )
    return {name: texts[f"debian/patches/{name}"] for name in names}


class Patcher:
    """Applies patches to a tree with GNU patch, without tolerance for other lines than the patch names.

    Attributes:
        report: what was applied: patch names with the numbers of files changed and left out.
    """

    def __init__(self, tree: pathlib.Path, program: str, include: Sequence[str]):
        self._tree, self._program, self._include = tree, program, include
        self.report: List[dict] = []

    def apply_what_is_there(self, name: str, text: str) -> None:
        """Applies the parts of a patch whose files the tree has, or would have had."""
        cut = patch_series.cut_to(text, name, lambda path: (self._tree / path).is_file(), self._belongs)
        if cut.text:
            self._apply(
                name, cut.text, cut.files, "restore the pinned version with git, or re-lock: " + chromium_lock.RELOCK
            )
        self.report.append({"patch": name, "files": len(cut.files), "left_out": len(cut.left_out)})

    def apply_whole(self, name: str, text: str, remedy: str) -> None:
        """Applies all of a patch: a file that is missing is an error too."""
        parts = patch_series.file_parts(text, name)
        for part in parts:
            if not part.makes and not (self._tree / part.path).is_file():
                raise patch_series.PatchError(f"{name}: the tree has no {part.path}; {remedy}")
        self._apply(name, "".join(part.text for part in parts), [part.path for part in parts], remedy)
        self.report.append({"patch": name, "files": len(parts), "left_out": 0})

    def _belongs(self, path: str) -> bool:
        """Whether a new file is among the paths asked for; what lies at the top always is, for all scripts find it."""
        return "/" not in path or unpack.matches(path, self._include) is not None

    def _apply(self, name: str, text: str, paths: Sequence[str], remedy: str) -> None:
        done = subprocess.run(
            [self._program, "-p1", "--force", "--fuzz=0", "--no-backup-if-mismatch", "--reject-file=-", "--silent"],
            cwd=self._tree,
            input=text.encode("latin-1"),
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            check=False,
        )
        if done.returncode:
            words = " / ".join(
                line
                for line in done.stdout.decode("utf-8", "replace").splitlines()
                if "FAILED" in line or "can't" in line
            )
            raise patch_series.PatchError(f"{name}: does not apply ({words or 'patch says nothing'}); {remedy}")
        # As everything unpacked: a tree that is fetched again must not look newer than what was built of it.
        for path in paths:
            if (self._tree / path).is_file():
                os.utime(self._tree / path, (unpack.TIME_STAMP, unpack.TIME_STAMP))


def patch_tree(patcher: Patcher, major: int, debian: Mapping[str, str], request: dict) -> str:
    """Applies Debian's patches, then ours; returns the name of our set."""
    for name, text in debian.items():
        patcher.apply_what_is_there(name, text)
    name = request["patch_set"] or patch_sets.chosen(major)
    if name not in patch_sets.PATCH_SETS:
        raise patch_series.PatchError(f"patch_set {name!r}: is none; there are: {', '.join(patch_sets.PATCH_SETS)}")
    folder = pathlib.Path(request["patch_folder"])
    sets = ", ".join(patch_sets.PATCH_SETS)
    remedy = f"the tree is of version {major}: choose another patch_set in MODULE.bazel ({sets}) or mend the patch"
    for path in [folder / patch for patch in patch_sets.PATCH_SETS[name].patches] + [
        pathlib.Path(path) for path in request["patches"]
    ]:
        patcher.apply_whole(f"{patch_sets.CHROMIUM_PATCHES}/{path.name}", path.read_text(encoding="latin-1"), remedy)
    return name


def unbundled(tree: pathlib.Path, include: Sequence[str]) -> List[str]:
    """Adds gn files that name a system library where Debian removed the bundled one; returns their paths.

    The table is read, not run. A tree without the table is not changed; only requested paths are added.

    Raises:
        PatchError: the table is not written as it was.
    """
    table = tree / _UNBUNDLE_TABLE
    if not table.is_file():
        return []
    try:
        found = [
            ast.literal_eval(node.value)
            for node in ast.parse(table.read_text(encoding="utf-8")).body
            if isinstance(node, ast.Assign) and getattr(node.targets[0], "id", "") == "REPLACEMENTS"
        ]
        replacements = dict(found[0])
    except (SyntaxError, ValueError, IndexError, TypeError) as error:
        raise patch_series.PatchError(
            f"{_UNBUNDLE_TABLE}: has no table REPLACEMENTS that can be read ({error}); mend make_tree.py"
        ) from None
    placed = []
    for library, path in sorted(replacements.items()):
        source, target = tree / _UNBUNDLE / f"{library}.gn", tree / path
        if source.is_file() and not target.exists() and ".." not in path.split("/") and unpack.matches(path, include):
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_bytes(source.read_bytes())
            placed.append(path)
    return placed


def fetched(
    origin: chromium_lock.Origin,
    patch: lockfile.Entry,
    environ: Mapping[str, str],
    versions_there: Callable[[], List[str]],
) -> Dict[lockfile.Entry, pathlib.Path]:
    """The archives in the cache.

    Raises:
        FetchError: one is not available; for Chromium's, if mirrors answered, with the available versions.
    """
    entries = [entry for entry in (origin.source, origin.packaging, patch) if entry]
    cache = digests.default_cache(environ)
    there = fetch.cached(entries, cache)
    if len(there) == len(entries):
        return there
    bases = [*origin.mirrors, *mirrors.from_environment(environ)] if origin.mirrors else mirrors.find_mirrors(environ)
    try:
        if origin.mirrors:
            return {
                **fetch.fetch([origin.source], cache, bases),
                **fetch.fetch([patch], cache, mirrors.find_mirrors(environ)),
            }
        return fetch.fetch(entries, cache, bases)
    except (fetch.UnreachableError, fetch.ChecksumError, fetch.DiskError):
        raise
    except fetch.FetchError as error:
        if not {origin.source, origin.packaging}.intersection(error.entries):
            raise
        raise fetch.FetchError(
            chromium_lock.gone(origin.version, "the pinned file is on none of them", versions_there())
        ) from None


def _versions_there() -> List[str]:
    """Versions that are listed today; empty when the lists are not available. Their files are not checked."""
    try:
        with tempfile.TemporaryDirectory() as scratch:
            return [version for version, _ in versions.Archive(scratch).versions()]
    except Exception:  # Only words of another error: nothing may go wrong here.
        return []


def make_tree(request: dict, root: pathlib.Path) -> None:
    """Carries out one request (see the module's docstring) below `root`."""
    origins = chromium_lock.parse(pathlib.Path(request["lock"]).read_text(encoding="utf-8"))
    if request["origin"] not in origins:
        raise lockfile.LockError(chromium_lock.missing_origin(request["origin"], list(origins)))
    origin = origins[request["origin"]]
    patch = lockfile.Entry(**request["patch"])
    archives = fetched(origin, patch, os.environ, _versions_there)
    tree = root / "source"
    unpack.unpack_source(archives[origin.source], tree, include=request["include"], exclude=request["exclude"])
    debian = series_patches(archives[origin.packaging]) if origin.packaging else {}
    with tempfile.TemporaryDirectory() as scratch:
        unpack.unpack_deb(archives[patch], scratch)
        patcher = Patcher(tree, os.path.join(scratch, "usr/bin/patch"), request["include"])
        name = patch_tree(patcher, origin.major, debian, request)
    # Of upstream's tarball nothing was taken away.
    system_libraries = unbundled(tree, request["include"]) if request["unbundle"] and origin.packaging else []
    fingerprints = {
        **({"system_libraries": system_libraries} if system_libraries else {}),
        "version": origin.version,
        "sources": [entry.sha256 for entry in (origin.source, origin.packaging) if entry],
        "include": request["include"],
        "exclude": request["exclude"],
        "patch_set": name,
        "patches": patcher.report,
        "patch_folder": {
            path.name: hashlib.sha256(path.read_bytes()).hexdigest()
            for path in sorted(pathlib.Path(request["patch_folder"]).glob("*.patch"))
        },
    }
    (root / "source.json").write_text(json.dumps(fingerprints, indent=1) + "\n", encoding="utf-8")
    changed = [entry for entry in patcher.report if entry["files"]]
    print(
        f"chromium: {origin.version}, {sum(1 for path in tree.rglob('*') if path.is_file())} files; {len(changed)} of "
        f"{len(patcher.report)} patches change {sum(entry['files'] for entry in changed)} of them, "
        f"{sum(entry['left_out'] for entry in patcher.report)} parts are for files that are not here",
        file=sys.stderr,
    )


def main() -> int:
    try:
        make_tree(json.load(sys.stdin), pathlib.Path.cwd())
    except (
        fetch.FetchError,
        lockfile.LockError,
        mirrors.MirrorError,
        unpack.UnpackError,
        patch_series.PatchError,
    ) as error:
        print(f"chromium: {error}", file=sys.stderr)
        return 1
    except OSError as error:
        print(
            f"chromium: {error.filename or 'the output base'}: {error.strerror}; free space or mend permissions and run"
            " again",
            file=sys.stderr,
        )
        return 1
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
