"""Builds Debian source packages behind `mlgo smaller` and writes a table.

    ./bazelw run //tests/debian_packages:run -- --prefix="$HOME/mlgo-clang" --scratch=/tmp/packages

Fetches each package with `apt-get source` and runs `dpkg-buildpackage -B -d` in it, unpatched and without its tests.
Results stay in the scratch folder.
"""

import argparse
import json
import os
import pathlib
import re
import resource
import subprocess
import sys

from tests.debian_packages.table import Outcome, outcome_of, with_table

#: Source package -> how it is built, and its language.
PACKAGES = {
    "bzip2": "make, C",
    "lz4": "make, C",
    "jansson": "autotools, C",
    "libyaml": "autotools, C",
    "fribidi": "autotools, C",
    "pcre2": "autotools, C",
    "tinyxml2": "CMake, C++",
    "double-conversion": "make in debian/rules, C++",
    "json-c": "CMake, C",
    "zstd": "CMake and make, C and C++",
    "brotli": "CMake, C",
    "dav1d": "meson, C and assembly",
    "libslirp": "meson, C",
    "busybox": "Kbuild, C, 500 units",
}
_COMMAND = ("dpkg-buildpackage", "-B", "-d", "-us", "-uc")
_OPTIONS = "nocheck nodoc noautodbgsym parallel=2"


def main() -> int:
    """Exit code 0, also where packages failed: the table says so."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--prefix", type=pathlib.Path, required=True, help="folder of the installed compiler")
    parser.add_argument("--scratch", type=pathlib.Path, required=True, help="folder for sources, builds and results")
    parser.add_argument("--table", type=pathlib.Path, help="page whose table is replaced")
    parser.add_argument("--packages", default=",".join(PACKAGES), help="names, with commas between. Default: all")
    parser.add_argument("--overhead", action="store_true", help="also builds without `mlgo`, by the same clang")
    parser.add_argument("--budget", default="2", help="of `mlgo smaller`")
    flags = parser.parse_args()
    os.chdir(os.environ.get("BUILD_WORKING_DIRECTORY", "."))
    prefix, results = flags.prefix.absolute(), flags.scratch.absolute() / "results"
    results.mkdir(parents=True, exist_ok=True)
    for name in flags.packages.split(","):
        file = results / f"{name}.json"
        if not file.exists():
            outcome = measure(name, prefix, flags.scratch.absolute() / name, flags.budget, flags.overhead)
            file.write_text(outcome.text(), encoding="utf-8")
        print(f"{name}: {outcome_of(file.read_text()).failure or 'measured'}", file=sys.stderr, flush=True)
    outcomes = [
        outcome_of((results / f"{name}.json").read_text()) for name in PACKAGES if (results / f"{name}.json").exists()
    ]
    if flags.table:
        flags.table.write_text(with_table(flags.table.read_text(encoding="utf-8"), outcomes), encoding="utf-8")
    return 0


def measure(name: str, prefix: pathlib.Path, folder: pathlib.Path, budget: str, with_overhead: bool) -> Outcome:
    """Fetches, builds and measures one package."""
    kind = PACKAGES[name]
    source = folder / "smaller"
    if not fetch(name, source):
        return Outcome(name, kind, None, "apt-get source does not give it")
    own = {"DEB_BUILD_OPTIONS": _OPTIONS, "LC_ALL": "C.UTF-8"}
    log = folder / "log.txt"
    code, seconds = run(
        [sys.executable, prefix / "bin/mlgo", "smaller", f"--budget={budget}", "--", *_COMMAND], source, own, log
    )
    result = source / "mlgo/mlgo.json"
    if not result.exists():
        return Outcome(name, kind, None, reason_of(log.read_text(errors="replace"), code))
    recording = json.loads((source / "mlgo/.cache/recording.json").read_text())
    overhead = None
    if with_overhead and fetch(name, folder / "plain"):
        # The same programs in front of the same clang, without records.
        code, plain = run(
            [sys.executable, prefix / "bin/mlgo", "build", "--", *_COMMAND],
            with_empty_result(folder / "plain", source),
            own,
            log,
        )
        overhead = recording["build_seconds"] / plain if not code and plain else None
    return Outcome(name, kind, json.loads(result.read_text()), "", recording["build_seconds"], overhead)


def with_empty_result(folder: pathlib.Path, measured: pathlib.Path) -> pathlib.Path:
    """The folder with a result of `mlgo smaller` that changes nothing."""
    (folder / "mlgo").mkdir(exist_ok=True)
    (folder / "mlgo/mlgo.json").write_text((measured / "mlgo/mlgo.json").read_text())
    (folder / "mlgo/mlgo.cfg").write_text("")
    return folder


def fetch(name: str, folder: pathlib.Path) -> bool:
    """Unpacks the sources of a package into `folder`, which ends in the folder's name; False: apt does not have it."""
    if folder.exists():
        return True
    archives = folder.parent / "archives"
    archives.mkdir(parents=True, exist_ok=True)
    if subprocess.run(["apt-get", "source", "-qq", "--download-only", name], cwd=archives, check=False).returncode:
        return False
    (description,) = archives.glob("*.dsc")
    return not subprocess.run(["dpkg-source", "--no-check", "-x", description, folder], check=False).returncode


def run(words: list, folder: pathlib.Path, variables: dict[str, str], log: pathlib.Path) -> tuple[int, float]:
    """Exit code and CPU seconds of a command; its messages go into `log`."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    with open(log, "wb") as file:
        done = subprocess.run(words, cwd=folder, env={**os.environ, **variables}, stdout=file, stderr=file, check=False)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return done.returncode, after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def reason_of(log: str, code: int) -> str:
    """The first error in the messages of a build, in one line."""
    lines = [line.strip() for line in log.splitlines()]
    found = next((line for line in lines if re.search(r"not found|No such file|[Ee]rror:|\*\*\*", line)), "")
    return f"{found[:160] or 'no message'} (exit code {code})"


if __name__ == "__main__":
    sys.exit(main())
