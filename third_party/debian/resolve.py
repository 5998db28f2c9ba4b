"""Signed resolution of package names to archive files, by apt itself, in a private root: no privileges, no trace on the
host.

apt verifies the archive's signature with Debian's keyring; an index past its Valid-Until is accepted, because mirrors
of moving suites are often a few days old and every file is pinned by digest afterwards.
"""

import os
import pathlib
import re
import subprocess
from typing import Dict, List, Sequence

import dated
import lockfile
import mirrors
import pace
import sources

#: Debian's name of the processor that packages are pinned for, x86-64.
ARCHITECTURE = "amd64"
KEYRING = "/usr/share/keyrings/debian-archive-keyring.gpg"
_URI_LINE = re.compile(r"^'(?P<uri>[^']+)' (?P<file>\S+) (?P<size>\d+) SHA256:(?P<sha256>[0-9a-f]{64})", re.M)
_UPSTREAM_TARBALL = re.compile(r"_(?P<version>[^_]+)\.orig\.tar\.[a-z0-9]+$")
# A field of a Release file.
_RELEASE_FIELD = re.compile(r"^(Codename|Date|Label|Origin): (.+)$", re.M)


class ResolveError(Exception):
    """apt could not resolve a name; carries apt's own words and the remedy."""


def source_lines(suites: Sequence[str], sources: Sequence[mirrors.AptSource]) -> List[str]:
    """`deb` and `deb-src` lines for suites, from the bases the machine's apt already uses.

    Suites ending in `-security` lie on the base whose suites end so; all others on the base of the machine's main
    suite.

    Raises:
        ResolveError: the machine's apt configuration names no base for a suite.
    """
    security = [source.uri for source in sources if any(name.endswith("-security") for name in source.suites)]
    main = [
        source.uri
        for source in sources
        if mirrors.is_debian(source) and not any(name.endswith("-security") for name in source.suites)
    ]
    lines = []
    for suite in suites:
        bases = security if suite.endswith("-security") else main
        if not bases:
            raise ResolveError(
                f"apt's configuration names no Debian mirror for {suite}; add one under {mirrors.APT_ETC}"
            )
        lines += [f"{kind} [signed-by={KEYRING}] {bases[0]} {suite} main" for kind in ("deb", "deb-src")]
    return lines


def configuration(root: pathlib.Path) -> str:
    """apt's configuration for the private state below `root`."""
    silence = int(pace.Limits().silence_seconds)
    lines = [
        f'Dir::Etc "{root}/etc";',
        f'Dir::Etc::sourcelist "{root}/etc/sources.list";',
        f'Dir::Etc::sourceparts "{root}/etc/none";',
        f'Dir::State "{root}/state";',
        f'Dir::State::status "{root}/state/status";',
        f'Dir::Cache "{root}/cache";',
        'Acquire::Check-Valid-Until "false";',
        'Acquire::Languages "none";',
        # By default a mirror that does not answer holds for up to two minutes.
        f'Acquire::http::Timeout "{silence}";',
        f'Acquire::https::Timeout "{silence}";',
        # Without it apt-get update succeeds although no index could be had.
        'APT::Update::Error-Mode "any";',
        # apt prints MD5 sums for some commands unless told which hash to use.
        'Acquire::ForceHash "SHA256";',
        f'APT::Architecture "{ARCHITECTURE}";',
        f'APT::Architectures "{ARCHITECTURE}";',
        'APT::Install-Recommends "false";',
        'APT::Sandbox::User "";',
        'APT::Get::Assume-Yes "true";',
    ]
    return "\n".join(lines) + "\n"


class PrivateApt:
    """apt with its own state below `root`, for one family of suites.

    Raises:
        ResolveError: apt or Debian's keyring is not installed, or no index could be had.
    """

    def __init__(self, root, suites: Sequence[str], sources: Sequence[mirrors.AptSource]):
        self._root = pathlib.Path(root).resolve()
        self._suites = tuple(suites)
        if not os.path.exists(KEYRING):
            raise ResolveError(
                "Debian's signing keys are not on this machine; install the package debian-archive-keyring"
            )
        for name in ("etc/apt.conf.d", "etc/preferences.d", "state/lists/partial", "cache/archives/partial"):
            (self._root / name).mkdir(parents=True, exist_ok=True)
        (self._root / "state/status").write_text("", encoding="ascii")
        (self._root / "etc/sources.list").write_text("\n".join(source_lines(suites, sources)) + "\n", encoding="utf-8")
        (self._root / "apt.conf").write_text(configuration(self._root), encoding="utf-8")
        self._apt("update", "-qq")

    def run(self, program: str, *arguments: str) -> str:
        """What one of apt's programs (`apt-get`, `apt-cache`) prints with the private state.

        Raises:
            ResolveError: it is not installed, or fails; with its own words.
        """
        # APT_CONFIG is read after the machine's own files, so that proxies and certificates still apply.
        environment = dict(os.environ, APT_CONFIG=str(self._root / "apt.conf"), LC_ALL="C")
        try:
            done = subprocess.run(
                [program, *arguments], env=environment, cwd=self._root, capture_output=True, text=True
            )
        except OSError as error:
            raise ResolveError(f"{program} cannot be run ({error.strerror}); lock on a Debian machine") from None
        if done.returncode:
            raise ResolveError(
                f"{program} {' '.join(arguments[:1])} ({', '.join(self._suites)}) failed: "
                f"{sources.masked((done.stdout + done.stderr).strip())}"
            )
        return done.stdout

    def _apt(self, *arguments: str) -> str:
        return self.run("apt-get", *arguments)

    def dated_suites(self) -> Dict[str, dated.Suite]:
        """What tells where the files of the suites are kept, and when the indexes were made: suite -> dated.Suite."""
        found = {}
        for path in sorted((self._root / "state/lists").glob("*Release")):
            release = dict(_RELEASE_FIELD.findall(path.read_text(encoding="utf-8")))
            if release.get("Codename") in self._suites:
                found[release["Codename"]] = dated.of_release(release)
        return found

    def packages(self, names: Sequence[str]) -> Dict[str, lockfile.Entry]:
        """The newest version of each binary package, without what it depends on."""
        if not names:
            return {}
        return self._entries(self._apt("download", "--print-uris", *names), names)

    def closure(self, names: Sequence[str], without: Sequence[str] = ()) -> List[lockfile.Entry]:
        """The packages and everything they need, as if installed on a machine that has only `without`."""
        status = self._root / "state/status"
        status.write_text(
            "".join(
                f"Package: {entry.name}\nStatus: install ok installed\nMaintainer: mlgo\nVersion: {entry.version}\n"
                f"Architecture: {'all' if entry.serves_all else ARCHITECTURE}\nMulti-Arch: foreign\n"
                f"Description: taken as installed\n\n"
                for entry in self.packages(without).values()
            ),
            encoding="utf-8",
        )
        try:
            found = self._entries(self._apt("install", "--print-uris", *names), names)
            # apt reinstalls some of them, for an exact version or another architecture's sake.
            return sorted(entry for name, entry in found.items() if name not in without)
        finally:
            status.write_text("", encoding="ascii")

    def group(self, asked: lockfile.Group) -> List[lockfile.Entry]:
        """The archives of a group of `packages.json`, sorted by name."""
        if asked.closure:
            return self.closure(asked.packages, asked.without)
        return sorted(self.packages(asked.packages).values())

    def source(self, name: str) -> lockfile.Entry:
        """The upstream tarball of a source package."""
        printed = self._apt("source", "--print-uris", "--download-only", name)
        found = [
            (entry, tarball.group("version"))
            for entry in map(self._entry, _URI_LINE.finditer(printed))
            for tarball in _UPSTREAM_TARBALL.finditer(entry.path)
        ]
        if len(found) != 1:
            raise ResolveError(
                f"source package {name}: {len(found)} upstream tarballs, expected 1; "
                "pin a package of another version in packages.json"
            )
        entry, version = found[0]
        return lockfile.Entry(name, version, entry.sha256, entry.size, entry.suite, entry.path)

    def _entries(self, output: str, names: Sequence[str]) -> Dict[str, lockfile.Entry]:
        entries = {entry.name: entry for entry in map(self._entry, _URI_LINE.finditer(output))}
        for name in names:
            if name not in entries:
                raise ResolveError(
                    f"package {name} ({', '.join(self._suites)}): apt prints no archive with a SHA256 for it; "
                    "correct the name in packages.json"
                )
        return entries

    def _entry(self, match) -> lockfile.Entry:
        name, version = match["file"].split("_")[:2]
        uri = match["uri"].replace("%2b", "+").replace("%2B", "+").replace("%7e", "~").replace("%3a", ":")
        path = uri[uri.index("/pool/") + 1 :]
        return lockfile.Entry(
            name=name,
            version=version.replace("%3a", ":"),
            sha256=match["sha256"],
            size=int(match["size"]),
            suite=self._suite(uri),
            path=path,
        )

    def _suite(self, path: str) -> str:
        security = [suite for suite in self._suites if suite.endswith("-security")]
        return security[0] if security and "/pool/updates/" in path else self._suites[0]
