"""Installs the compiler with policies into a directory.

    ./bazelw run //release:install -- --prefix=/opt/mlgo                                     # with the shipped policies
    ./bazelw run //release:install -- --prefix=/opt/mlgo --eviction_policy=out/regalloc/policy
    ./bazelw run //release:install -- --prefix="$HOME/mlgo" --inlining_policy=none

PREFIX/bin/clang is the path for build systems (-DCMAKE_C_COMPILER=PREFIX/bin/clang). It stays; a later installation
changes what it runs, in one step. The versions lie side by side in PREFIX/versions. The current one and the one before
stay, older ones are removed; files that this command did not write are never deleted. A command that is interrupted or
killed leaves the compiler that was there. PREFIX may be moved.

A policy flag takes the `policy` directory of a training run, or `none`. A policy that is not among the shipped ones is
compiled and linked first, by Bazel, in a package of its own: //release:clang stays as it is.

Exit codes: 0 done, 2 a flag or the prefix is not usable, others: Bazel's, of the build.
"""

import hashlib
import os
import pathlib
import subprocess
import sys
import tarfile
from collections.abc import Mapping, Sequence
from typing import Any

from mlgo.flags.arguments import command_parser
from mlgo.problems.problem import load_problem
from mlgo.problems.slots import policy_slots, selector_option
from mlgo.run import locate
from mlgo.run.exit import exit_code_of
from mlgo.run.exit_codes import ExitCode, RunError
from mlgo.run.files import parse_json
from release.installation import contents, policies
from release.installation.prefix import PREVIOUS, Prefix, opened

#: The environment variable in which the BUILD target names its archive.
ARCHIVE_VARIABLE = "MLGO_COMPILER_ARCHIVE"
_VERSION_SECONDS = 120
_DIGITS = 12


def run(arguments: Sequence[str], environment: Mapping[str, str], archive: pathlib.Path | None) -> int:
    """Runs the command; returns its exit code.

    Args: archive: the compiler that was built with this command; None: the command was not started by Bazel.
    """
    parser = command_parser("install", __doc__)
    parser.add_argument("--prefix", metavar="DIR", required=True, help="directory to install into; created when absent")
    for slot, fields in policy_slots().items():
        text = f"policy for {fields['decides']}: its directory, or {policies.NONE}. Default: the shipped one"
        parser.add_argument(f"--{slot}", metavar="DIR", help=text)
    text = "what compiles the policies: generated C++, or TensorFlow. Default: that of the shipped compiler, cpp"
    parser.add_argument("--backend", choices=("aot", "cpp"), help=text)
    flags = parser.parse_args(arguments)
    prefix = locate.user_path(flags.prefix, environment)
    if archive is None or not archive.is_file():
        raise RunError(
            "the compiler's archive", "is not there", "Start the command with ./bazelw run //release:install"
        )
    choices = [
        policies.chosen(slot, None if value == policies.NONE else locate.user_path(value, environment))
        for slot in policy_slots()
        if (value := getattr(flags, slot)) is not None
    ]
    provenance = _provenance(archive)
    present = provenance["predicate"]["buildDefinition"]["externalParameters"]["backend"]
    if not policies.differing(choices, provenance) and flags.backend in (None, present):
        return install(archive, prefix)
    workspace = locate.workspace(environment)
    if workspace is None:
        raise RunError(
            "another compiler", "needs a build, and no workspace is known", "Start the command with ./bazelw run"
        )
    with policies.built(workspace, choices, flags.backend or present) as other:
        return install(other, prefix)


def _provenance(archive: pathlib.Path) -> Any:
    """The provenance.json in the archive. Raises: RunError: there is none."""
    with tarfile.open(archive) as tar:
        for member in tar:
            if member.isfile() and member.name.count("/") == 1 and member.name.endswith("/provenance.json"):
                return parse_json(contents.of_member(tar, member).read(), member.name, "Build the archive again")
    raise RunError(archive.name, "holds no provenance.json", "Report this defect", ExitCode.INTERNAL_ERROR)


def _version_name(archive: pathlib.Path, provenance: Mapping[str, Any]) -> str:
    """Name of a version: LLVM's version, and the beginning of the sha256 of the archive."""
    llvm = provenance["predicate"]["buildDefinition"]["internalParameters"]["llvm"]
    with open(archive, "rb") as file:
        return f"mlgo-clang-{llvm}-{hashlib.file_digest(file, 'sha256').hexdigest()[:_DIGITS]}"


def install(archive: pathlib.Path, path: pathlib.Path) -> ExitCode:
    """Installs the archive's compiler into the prefix `path`, and prints what is there now.

    Raises: RunError: the prefix is not usable, or the compiler does not run on this machine.
    """
    provenance = _provenance(archive)

    def check(folder: pathlib.Path) -> None:
        _check(folder / "bin" / "clang", provenance)

    with opened(path) as prefix:
        name = prefix.add(_version_name(archive, provenance), lambda folder: contents.unpack(archive, folder), check)
        prefix.switch(name)
        removed, kept = prefix.remove_old()
        lines = _summary(prefix, provenance, removed, kept)
    print("\n".join(lines))
    return ExitCode.DONE


def _check(clang: pathlib.Path, provenance: Mapping[str, Any]) -> None:
    """Raises: RunError: the compiler does not run, or contains other policies than its provenance says."""
    try:
        done = subprocess.run(
            [clang, "--version"], env={}, capture_output=True, text=True, timeout=_VERSION_SECONDS, check=False
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        raise RunError(f"{clang} --version", f"does not run here: {error}", "The prefix is unchanged") from error
    missing = [policy["sha256"] for policy in policies.inside(provenance) if policy["sha256"][:16] not in done.stdout]
    if done.returncode or missing:
        wrong = f"exit code {done.returncode}, policies that it does not name: {', '.join(missing) or 'none'}"
        raise RunError(
            f"{clang} --version",
            wrong,
            "The prefix is unchanged. The compiler needs glibc 2.36 (Debian 12) or newer on x86-64",
        )


def _summary(prefix: Prefix, provenance: Mapping[str, Any], removed: Sequence[str], kept: Sequence[str]) -> list[str]:
    programs = ", ".join(sorted(entry.name for entry in (prefix.path / "bin").iterdir()))
    lines = [f"installed {prefix.version()} -> {prefix.path}", f"    {prefix.path / 'bin'}: {programs}"]
    for policy in policies.inside(provenance):
        name = policy.get("name", "")
        title = f"{policy['problem']}, name {name}" if name else policy["problem"]
        architectures = policy.get("architectures", [])
        title += f", for {' and '.join(architectures)}" if architectures else ""
        # Compiles for its targets take a policy without the option.
        selected = [] if architectures else selector_option(policy["problem"], name)
        on = [*load_problem(policy["problem"]).release_flags(), *selected]
        lines.append(f"    policy {title}: {policy['training_run']}, sha256 {policy['sha256']}")
        lines.append(f"        on with {' '.join(on)}")
    if not policies.inside(provenance):
        lines.append("    no policy inside")
    lines.append(f"    made of: {prefix.path / 'current' / 'provenance.json'}")
    if previous := prefix.version(PREVIOUS):
        lines.append(f"    the one before stays: {prefix.versions / previous}")
    lines += [f"    removed: {prefix.versions / name}" for name in removed]
    lines += [f"    stays, because files in it are not this command's: {prefix.versions / name}" for name in kept]
    return lines


if __name__ == "__main__":
    raise SystemExit(exit_code_of(lambda: run(sys.argv[1:], os.environ, locate.of_environment(ARCHIVE_VARIABLE))))
