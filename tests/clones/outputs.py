"""What a build left behind, as digests that another clone's can be compared with."""

import concurrent.futures
import hashlib
import os
import pathlib
from collections.abc import Mapping

#: Written for this machine's Bazel alone: they hold absolute paths and no action reads their content.
_LOCAL = (".runfiles_manifest", "/MANIFEST")


def digests(folder: pathlib.Path) -> dict[str, str]:
    """Path below `folder` -> sha256 of the file, followed by x when it is executable, or where the link leads.

    An absolute link to a file counts as that file, for such links name the output base; one to a folder is left out,
    and so are runfiles trees and lists of them: what they lead to is here anyway.
    """
    found: dict[str, str] = {}
    with concurrent.futures.ThreadPoolExecutor() as pool:
        jobs = {}
        for parent, folders, names in os.walk(folder):
            folders[:] = [name for name in folders if not name.endswith(".runfiles")]
            links = [name for name in folders if os.path.islink(os.path.join(parent, name))]
            for name in names + links:
                path = os.path.join(parent, name)
                relative = os.path.relpath(path, folder)
                if relative.endswith(_LOCAL):
                    continue
                if os.path.islink(path) and not os.path.isabs(target := os.readlink(path)):
                    found[relative] = "-> " + target
                elif not os.path.exists(path):
                    found[relative] = "-> nothing"
                elif os.path.isfile(path):
                    jobs[relative] = pool.submit(_digest, path)
        found.update((relative, job.result()) for relative, job in jobs.items())
    return found


def _digest(path: str) -> str:
    with open(path, "rb") as file:
        digest = hashlib.file_digest(file, "sha256").hexdigest()
        return digest + ("x" if os.fstat(file.fileno()).st_mode & 0o100 else "")


def first_difference(one: Mapping[str, str], other: Mapping[str, str]) -> str | None:
    """The first path on which two results of `digests` differ, with both digests; None when they are equal."""
    for path in sorted(one.keys() | other.keys()):
        if one.get(path) != other.get(path):
            return f"{path}: {one.get(path, 'missing')} in the first clone, {other.get(path, 'missing')} in the second"
    return None
