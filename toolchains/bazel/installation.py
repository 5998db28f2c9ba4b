"""Installs Debian's Bazel, relocated, into a directory of the user's cache: once, whole or not at all.

The tree is built beside its final place under a lock, gets its manifest last and is then renamed. Without a manifest a
tree does not count and is made again; archives already downloaded are not downloaded again.
"""

import contextlib
import fcntl
import json
import os
import pathlib
import shutil
import sys
import tempfile
import time
from typing import Callable, Iterator, List, Mapping

from toolchains.bazel import command_line, host, registry, relocation, trust_store
from toolchains.bazel.errors import LauncherError

MANIFEST = "manifest.json"
BAZELRC = "bazelrc"
# For workspaces other than this one, besides the first.
OTHER_BAZELRC = "other_workspace.bazelrc"
REGISTRY = "registry"
LOCK_GROUP, TOOLS_GROUP = "bazel", "bazel_tools"
# Measured 2026-11-20: 172 MB of archives, 340 MB unpacked, and some room.
SPACE_NEEDED_BYTES = 700_000_000

Say = Callable[[str], None]


def is_complete(prefix: pathlib.Path) -> bool:
    return (prefix / MANIFEST).is_file()


@contextlib.contextmanager
def exclusively(prefix: pathlib.Path, say: Say) -> Iterator[None]:
    """Holds the lock beside `prefix`; says so once when another process holds it."""
    with open(prefix.with_name(prefix.name + ".lock"), "w", encoding="ascii") as guard:
        try:
            fcntl.flock(guard, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            say(f"another bazelw is installing Bazel into {prefix}; waiting for it")
            fcntl.flock(guard, fcntl.LOCK_EX)
        yield


def ensure(
    prefix: pathlib.Path,
    build: Callable[[pathlib.Path], Mapping[str, object]],
    say: Say,
    space_needed: int = SPACE_NEEDED_BYTES,
) -> None:
    """Makes `prefix` complete; does nothing if it is.

    Args:
        prefix: the final directory.
        build: fills the staging directory it is given, returns what the manifest shall say.
        say: receives one line for what is worth knowing.
        space_needed: bytes that must be free.
    Raises:
        LauncherError: the cache cannot be written, or has too little room.
    """
    try:
        prefix.parent.mkdir(parents=True, exist_ok=True)
        with exclusively(prefix, say):
            if is_complete(prefix):
                return
            _check_space(prefix.parent, space_needed)
            staging = prefix.with_name(prefix.name + ".partial")
            for leftover in (staging, prefix):
                if leftover.exists():
                    shutil.rmtree(leftover)
            staging.mkdir()
            _write_durably(staging / MANIFEST, json.dumps(build(staging), indent=1, sort_keys=True) + "\n")
            os.rename(staging, prefix)
    except OSError as error:
        raise LauncherError(
            f"Bazel's directory {prefix}",
            f"cannot be written ({error.strerror or error})",
            "Free the disk or set XDG_CACHE_HOME to a writable directory, then run the same command again; "
            "downloads resume where they stopped.",
        ) from error


def _check_space(directory: pathlib.Path, needed: int) -> None:
    free = shutil.disk_usage(directory).free
    if free < needed:
        raise LauncherError(
            f"Bazel's directory {directory}",
            f"{free / 1e6:.0f} MB are free, {needed / 1e6:.0f} MB are needed",
            "Free the disk or set XDG_CACHE_HOME to a directory with more room.",
        )


def _write_durably(path: pathlib.Path, text: str) -> None:
    with open(path, "w", encoding="utf-8") as file:
        file.write(text)
        file.flush()
        os.fsync(file.fileno())


def gone_line(entries) -> str:
    """Message for pinned packages that no mirror has any more."""
    names = ", ".join(f"{entry.name} {entry.version}" for entry in entries[:3]) + (", ..." if len(entries) > 3 else "")
    return (
        f"{len(entries)} pinned packages are on no mirror that answered ({names}): using today's versions for Bazel "
        "alone, checked by the archive's signature"
    )


def in_tree(tree: pathlib.Path, program: str) -> List[str]:
    """The command that runs `program` with the loader and the libraries of `tree`: a host need not have libstdc++."""
    return [str(tree / relocation.LOADER), "--library-path", str(tree / relocation.LIBRARIES), program]


class DebianBazel:
    """Builds a relocated Bazel from the lock's group `bazel`.

    Args:
        workspace: root of the clone, where third_party/debian and third_party/registry lie.
        prefix: the final directory.
        environ: for mirrors and the archive cache.
        say: receives one line for each step.
    """

    def __init__(self, workspace: pathlib.Path, prefix: pathlib.Path, environ: Mapping[str, str], say: Say):
        self._workspace, self._prefix, self._environ, self._say = workspace, prefix, environ, say
        # The Debian library is written for plain scripts: its modules import each other by bare name.
        debian = str(workspace / "third_party" / "debian")
        if debian not in sys.path:
            sys.path.insert(1, debian)
        import fetch  # pylint: disable=import-outside-toplevel,multiple-imports
        import lockfile
        import mirrors
        import newest
        import resolve
        import unpack

        self._fetch, self._lockfile, self._newest, self._resolve, self._unpack = (
            fetch,
            lockfile,
            newest,
            resolve,
            unpack,
        )
        self._debian_errors = (
            fetch.FetchError,
            lockfile.LockError,
            mirrors.MirrorError,
            resolve.ResolveError,
            unpack.UnpackError,
        )

    def build(self, staging: pathlib.Path) -> Mapping[str, object]:
        """Fills `staging`; returns the manifest.

        Raises:
            LauncherError: with the Debian library's own sentence if that is where it failed.
        """
        start = time.monotonic()
        try:
            packages, tools = self._archives()
            self._unpack_all(packages, staging)
            with tempfile.TemporaryDirectory(dir=staging.parent) as scratch:
                for archive in tools.values():
                    self._unpack.unpack_deb(archive, scratch)
                relocation.relocate(staging, self._prefix, in_tree(staging, os.path.join(scratch, "usr/bin/patchelf")))
        except self._debian_errors as error:
            raise LauncherError("Debian's Bazel", str(error), "Or set BAZEL to a Bazel >= 7.7, < 8.") from None
        java = relocation.java_home(staging)
        self._trust_host_certificates(staging / java)
        self._write_configuration(staging)
        label = relocation.build_label(staging)
        self._say(f"Bazel {label} installed in {time.monotonic() - start:.0f} s into {self._prefix}")
        return {
            "bazel": label,
            "packages": {
                entry.name: {"version": entry.version, "sha256": entry.sha256} for entry in list(packages) + list(tools)
            },
        }

    def _archives(self):
        """Pinned archives; if mirrors have dropped some, today's versions from a fresh signed resolution."""
        lock = self._lockfile.load(self._workspace / "third_party" / "debian" / "lock.json")
        pinned, tools = lock.group(LOCK_GROUP), lock.group(TOOLS_GROUP)
        megabytes = sum(entry.size for entry in pinned + tools) / 1e6
        self._say(f"installing Debian's Bazel, once: {len(pinned)} packages, {megabytes:.0f} MB to download")
        try:
            fetched = self._get(pinned + tools)
            return ({entry: fetched[entry] for entry in pinned}, {entry: fetched[entry] for entry in tools})
        except (self._fetch.ChecksumError, self._fetch.DiskError, self._fetch.UnreachableError):
            raise
        except self._fetch.FetchError as gone:
            self._say(gone_line(gone.entries))
            try:
                return self._get_fresh(LOCK_GROUP), self._get_fresh(TOOLS_GROUP)
            except self._resolve.ResolveError as unresolved:
                raise self._fetch.FetchError(f"{gone}. Today's versions cannot be had either: {unresolved}") from None

    def _get(self, entries):
        return self._fetch.fetch_with_environment(entries, self._environ, self._fetch.to_stderr)

    def _get_fresh(self, group: str):
        request = self._lockfile.load_request(self._workspace / "third_party" / "debian" / "packages.json")
        asked = request.groups[group]
        with tempfile.TemporaryDirectory(dir=self._prefix.parent) as scratch:
            apt = self._resolve.PrivateApt(
                scratch, request.suites[asked.suite], self._newest.known_sources(self._environ)
            )
            entries = apt.group(asked)
        return self._get(entries)

    def _unpack_all(self, packages, staging: pathlib.Path) -> None:
        last = time.monotonic()
        for index, (entry, archive) in enumerate(sorted(packages.items()), start=1):
            self._unpack.unpack_deb(archive, staging, relocation.UNWANTED, keep_bazel_files=True)
            if time.monotonic() - last >= 10:
                last = time.monotonic()
                self._say(f"unpacked {index} of {len(packages)} packages ({entry.name})")

    def _trust_host_certificates(self, java: pathlib.Path) -> None:
        bundle = host.certificates(self._environ)
        store = java / "lib" / "security" / "cacerts"
        if store.is_symlink():
            store.unlink()
        store.write_bytes(
            trust_store.java_key_store(trust_store.certificates(pathlib.Path(bundle).read_bytes() if bundle else b""))
        )

    def _write_configuration(self, staging: pathlib.Path) -> None:
        place = str(self._prefix / REGISTRY)
        templates = self._workspace / "third_party" / "registry"
        modules = registry.load(templates / "modules.json")
        registry.write(modules, templates, staging / REGISTRY, place)
        install_base, java = self._prefix / relocation.INSTALL_BASE, self._prefix / relocation.SERVER_JAVA
        texts = {
            BAZELRC: command_line.bazelrc(str(install_base), str(java)),
            OTHER_BAZELRC: command_line.rc_text(registry.flags(modules, place)),
        }
        for name, text in texts.items():
            (staging / name).write_bytes(os.fsencode(text))
