"""Refreshes lock.json from packages.json and prints what changed.

Example:
  ./bazelw run //third_party/debian:lock              # everything at today's versions
  ./bazelw run //third_party/debian:lock -- --only_missing   # keep what is pinned, add what is new
  ./bazelw run //third_party/debian:lock -- --at_risk        # print what would be lost if testing moved tomorrow

apt resolves versions and checks the archive's signature, without privileges. Each changed package is printed on a line:
`+` added, `-` removed, `~` changed.
"""

import argparse
import os
import pathlib
import sys
import tempfile
from typing import Dict, List

import at_risk
import lockfile
import mirrors
import newest
import places
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


def resolve_request(request: lockfile.Request, old: lockfile.Lock, only_missing: bool, scratch) -> lockfile.Lock:
    """Resolves every request; with `only_missing`, entries that are already pinned stay as they are."""
    apts: Dict[str, resolve.PrivateApt] = {}

    def apt(family: str) -> resolve.PrivateApt:
        if family not in apts:
            print(f"lock: reading the index of {', '.join(request.suites[family])}", file=sys.stderr, flush=True)
            apts[family] = resolve.PrivateApt(
                pathlib.Path(scratch) / family, request.suites[family], newest.known_sources(os.environ)
            )
        return apts[family]

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


def main(arguments=None) -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only_missing", action="store_true", help="keep pinned versions, resolve only new names")
    parser.add_argument(
        "--at_risk", action="store_true", help="print the archives that only testing has, and change nothing"
    )
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
    lock_path = directory / "lock.json"
    try:
        request = lockfile.load_request(directory / "packages.json")
        old = lockfile.load(lock_path) if lock_path.exists() else lockfile.Lock({}, {}, {})
        if options.at_risk:
            print("\n".join(at_risk.assess(old, places.load_upstream()).lines()))
            return 0
        with tempfile.TemporaryDirectory() as scratch:
            new = resolve_request(request, old, options.only_missing, scratch)
    except (lockfile.LockError, resolve.ResolveError, mirrors.MirrorError) as error:
        print(f"lock: {error}", file=sys.stderr)
        return 1
    temporary = lock_path.with_suffix(".json.new")
    temporary.write_text(new.to_json(), encoding="utf-8")
    os.replace(temporary, lock_path)
    for line in changes(old, new):
        print(line)
    print(
        f"lock: {len(new.all_entries())} archives pinned, {sum(e.size for e in new.all_entries()) / 1e6:.0f} MB -> "
        f"{lock_path.name}",
        file=sys.stderr,
    )
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
