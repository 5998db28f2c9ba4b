"""Refreshes lock.json from packages.json and prints what changed.

Example:
  ./bazelw run //third_party/debian:lock              # everything at today's versions
  ./bazelw run //third_party/debian:lock -- --only_missing   # keep what is pinned, add what is new

apt resolves versions and checks the archive's signature, without privileges. Each changed package is printed on a line:
`+` added, `-` removed, `~` changed. dated.json gets the time of the indexes, at which Debian's dated archive keeps the
pinned files.
"""

import argparse
import os
import pathlib
import sys
import tempfile
from typing import Callable, Dict, List, Mapping, Sequence, Tuple

import dated
import lockfile
import mirrors
import newest
import resolve


def changes(old: lockfile.Lock, new: lockfile.Lock) -> List[str]:
    """One line per difference, sorted."""

    def flat(lock: lockfile.Lock) -> Dict[str, lockfile.Entry]:
        rows = {f"{family}/{name}": entry for family, table in lock.packages.items() for name, entry in table.items()}
        rows.update({f"source/{name}": entry for name, entry in lock.sources.items()})
        rows.update({f"{group}/{entry.name}": entry for group, entries in lock.groups.items() for entry in entries})
        return rows

    before, after = flat(old), flat(new)
    lines = []
    for name in sorted(set(before) | set(after)):
        if name not in before:
            lines.append(f"+ {name} {after[name].version}")
        elif name not in after:
            lines.append(f"- {name} {before[name].version}")
        elif before[name] != after[name]:
            lines.append(f"~ {name} {before[name].version} -> {after[name].version}")
    return lines


def resolve_request(
    request: lockfile.Request, old: lockfile.Lock, only_missing: bool, apt: Callable[[str], resolve.PrivateApt]
) -> lockfile.Lock:
    """Resolves every request; with `only_missing`, entries that are already pinned stay as they are.

    Args:
        apt: family of suites -> the index.
    """
    packages = {}
    for family, names in request.packages.items():
        kept = {
            name: old.packages[family][name] for name in names if only_missing and name in old.packages.get(family, {})
        }
        asked = [name for name in names if name not in kept]
        packages[family] = {**kept, **(apt(family).packages(asked) if asked else {})}
    sources = {
        name: old.sources[name] if only_missing and name in old.sources else apt(family).source(name)
        for name, family in request.sources.items()
    }
    groups = {}
    for name, group in request.groups.items():
        pinned = old.groups.get(name, [])
        if only_missing and {entry.name for entry in pinned} >= set(group.packages):
            groups[name] = pinned
        else:
            kept = old.packages.get(group.suite, {}) if only_missing else {}
            groups[name] = [kept.get(entry.name, entry) for entry in apt(group.suite).group(group)]
    return lockfile.Lock(packages=packages, sources=sources, groups=groups)


class Indexes:
    """apt's indexes, each read when it is first asked for.

    Args:
        suites: family of suites -> their names.
        scratch: directory for apt's state.
    """

    def __init__(self, suites: Mapping[str, Sequence[str]], scratch: str):
        self._suites, self._scratch = suites, pathlib.Path(scratch)
        self._read: Dict[str, resolve.PrivateApt] = {}

    def __call__(self, family: str) -> resolve.PrivateApt:
        if family not in self._read:
            suites = self._suites[family]
            print(f"lock: reading the index of {', '.join(suites)}", file=sys.stderr, flush=True)
            self._read[family] = resolve.PrivateApt(self._scratch / family, suites, newest.known_sources(os.environ))
        return self._read[family]

    def dated_suites(self) -> Dict[str, dated.Suite]:
        """Of the indexes that were read; see `PrivateApt.dated_suites`."""
        return {name: suite for apt in self._read.values() for name, suite in apt.dated_suites().items()}


def relocked(
    packages_json: pathlib.Path, old: lockfile.Lock, only_missing: bool
) -> Tuple[lockfile.Lock, Dict[str, dated.Suite]]:
    """(the lock for the requests in `packages_json`, the suites whose indexes were read).

    See `resolve_request` for `only_missing`.

    Raises:
        lockfile.LockError: `packages_json` cannot be used.
        resolve.ResolveError: apt cannot resolve a name.
    """
    with tempfile.TemporaryDirectory() as scratch:
        request = lockfile.load_request(packages_json)
        indexes = Indexes(request.suites, scratch)
        return resolve_request(request, old, only_missing, indexes), indexes.dated_suites()


def main(arguments=None) -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only_missing", action="store_true", help="keep pinned versions, resolve only new names")
    parser.add_argument(
        "--directory", help="folder of packages.json and lock.json (default: third_party/debian of the workspace)"
    )
    options = parser.parse_args(arguments)
    workspace = os.environ.get("BUILD_WORKSPACE_DIRECTORY")
    directory = pathlib.Path(
        options.directory
        or (
            os.path.join(workspace, "third_party", "debian")
            if workspace
            else os.path.dirname(os.path.abspath(__file__))
        )
    )
    lock_path, dated_path = directory / "lock.json", directory / dated.PATH.name
    try:
        old = lockfile.load(lock_path) if lock_path.exists() else lockfile.Lock({}, {}, {})
        new, read = relocked(directory / "packages.json", old, options.only_missing)
        kept = dated.load(dated_path) if dated_path.exists() else {}
        dated.refuse_older(kept, read)
        suites = dated.merged(kept, read, options.only_missing)
    except (lockfile.LockError, resolve.ResolveError, mirrors.MirrorError) as error:
        print(f"lock: {error}", file=sys.stderr)
        return 1
    for path, text in ((lock_path, new.to_json()), (dated_path, dated.to_json(suites))):
        temporary = path.with_suffix(".json.new")
        temporary.write_text(text, encoding="utf-8")
        os.replace(temporary, path)
    for line in changes(old, new):
        print(line)
    entries = new.all_entries()
    megabytes = sum(entry.size for entry in entries) / 1e6
    print(f"lock: {len(entries)} archives pinned, {megabytes:.0f} MB -> {lock_path.name}", file=sys.stderr)
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
