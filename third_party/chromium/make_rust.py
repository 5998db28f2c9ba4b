"""Program of the repository rule of the Rust tools: Debian's packages, and bindgen from Debian's package of Chromium.

Reads one JSON object on standard input:
  lock     path of lock.json; Debian's packaging tarball of it has bindgen as a package
  tree     request of third_party/debian/tree.py: the packages and the folders of their libraries
Output: the tree, and fingerprints.json with the digests of its inputs. On an error: exit code 1 and one line on
standard error.
"""

import json
import os
import pathlib
import shutil
import sys
import tarfile
import tempfile

import chromium_lock

# chromium_lock made third_party/debian importable.
import fetch
import lockfile
import mirrors
import tree
import unpack

# Bookworm's own is too old for Chromium, a newer one needs a newer libc (debian/rules).
_BINDGEN_FOLDER, _BINDGEN_ENDING = "debian/bindgen/", "_amd64.deb"


def unpack_bindgen(packaging: pathlib.Path, root: pathlib.Path) -> str:
    """Unpacks the package bindgen inside of Debian's packaging tarball; returns its name.

    Raises:
        UnpackError: there is none, or it is damaged.
    """
    try:
        with tarfile.open(packaging, mode="r|*") as tar, tempfile.TemporaryDirectory() as scratch:
            for member in tar:
                name = member.name.lstrip("./")
                if member.isfile() and name.startswith(_BINDGEN_FOLDER) and name.endswith(_BINDGEN_ENDING):
                    package = pathlib.Path(scratch, os.path.basename(name))
                    with open(package, "wb") as file:
                        shutil.copyfileobj(unpack.content_of(tar, member), file)
                    unpack.unpack_deb(package, root)
                    return name
    except (tarfile.TarError, EOFError) as error:
        raise unpack.UnpackError(f"{packaging.name}: damaged ({error}); delete it and fetch it again") from None
    raise unpack.UnpackError(
        f"{packaging.name}: has no {_BINDGEN_FOLDER}*{_BINDGEN_ENDING}; pin a version of Chromium that has"
    )


def make_rust(request: dict, root: pathlib.Path) -> None:
    """Carries out one request (see the module's docstring) below `root`."""
    origins = chromium_lock.parse(pathlib.Path(request["lock"]).read_text(encoding="utf-8"))
    origin = origins.get(chromium_lock.DEBIAN)
    if not origin or not origin.packaging:
        raise lockfile.LockError(chromium_lock.missing_origin(chromium_lock.DEBIAN, list(origins)))
    packaging = fetch.fetch_with_environment([origin.packaging], os.environ)[origin.packaging]
    bindgen = unpack_bindgen(packaging, root)
    tree.make_tree(request["tree"], root)
    fingerprints = {"bindgen": {"file": bindgen, "of": origin.packaging.sha256}, "tree": request["tree"]}
    (root / "fingerprints.json").write_text(json.dumps(fingerprints, indent=1, sort_keys=True) + "\n", encoding="utf-8")


def main() -> int:
    try:
        make_rust(json.load(sys.stdin), pathlib.Path.cwd())
    except (fetch.FetchError, lockfile.LockError, mirrors.MirrorError, unpack.UnpackError, tree.PatchError) as error:
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
