"""Which policies an installation is to contain, and the workspace package that builds a compiler with them."""

import dataclasses
import os
import pathlib
import shutil
import subprocess
from collections.abc import Mapping, Sequence
from typing import Any

from mlgo.policy.identity import identity
from mlgo.problems.slots import policy_slots
from mlgo.run.exit_codes import RunError

#: Value of a policy flag: the slot stays empty.
NONE = "none"
#: The package, relative to the workspace. The name is fixed, so that equal policies give equal bytes.
PACKAGE = "out/install"
# Files that would make Bazel see a package or a workspace inside of a policy.
_BAZEL_FILES = ("BUILD", "BUILD.bazel", "MODULE.bazel", "REPO.bazel", "WORKSPACE", "WORKSPACE.bazel")


@dataclasses.dataclass(frozen=True)
class Choice:
    """The policy that the user wants in one slot.

    Attributes:
      slot: name in llvm/slots.bzl.
      problem: what the slot decides.
      folder: directory of the policy; None: no policy.
      digest: sha256 of its saved_model.pb; None: no policy.
    """

    slot: str
    problem: str
    folder: pathlib.Path | None
    digest: str | None


def chosen(slot: str, folder: pathlib.Path | None) -> Choice:
    """The choice that a flag names. A training run's output directory stands for the policy in it.

    Args: folder: the flag's path; None: the slot stays empty.
    Raises: RunError: there is no policy, or it is damaged, or decides another problem.
    """
    problem = policy_slots()[slot]["problem"]
    if folder is None:
        return Choice(slot, problem, None, None)
    if not (folder / "saved_model.pb").exists() and (folder / "policy" / "saved_model.pb").exists():
        folder = folder / "policy"
    if not (folder / "saved_model.pb").is_file():
        raise RunError(
            f"--{slot}={folder}",
            "holds no policy: there is no saved_model.pb",
            f"Give the directory `policy` of a training run, or {NONE}",
        )
    return Choice(slot, problem, folder, identity(folder, problem).digest)


def inside(provenance: Mapping[str, Any]) -> dict[str, Mapping[str, Any]]:
    """Problem -> entry of the policies that a provenance.json names."""
    policies = provenance["predicate"]["buildDefinition"]["externalParameters"]["policies"]
    return {policy["problem"]: policy for policy in policies}


def differing(choices: Sequence[Choice], provenance: Mapping[str, Any]) -> list[Choice]:
    """The choices that the compiler of `provenance` does not meet."""
    present = inside(provenance)
    return [choice for choice in choices if present.get(choice.problem, {}).get("sha256") != choice.digest]


def wanted(choices: Sequence[Choice], provenance: Mapping[str, Any]) -> dict[str, str]:
    """Problem -> digest of the policies that the compiler of `provenance` has after the choices."""
    digests = {problem: policy["sha256"] for problem, policy in inside(provenance).items()}
    digests.update({choice.problem: choice.digest for choice in choices})
    return {problem: digest for problem, digest in digests.items() if digest is not None}


def refuse_others(expected: Mapping[str, str], provenance: Mapping[str, Any]) -> None:
    """Raises: RunError: the policies inside are not exactly `expected`; nothing is checked if that is empty."""
    found = {problem: policy["sha256"] for problem, policy in inside(provenance).items()}
    if expected and found != expected:
        shown = ", ".join(f"{problem}={digest}" for problem, digest in sorted(found.items())) or "none"
        raise RunError(
            "--expect",
            f"does not name the policies inside: {shown}",
            "Give policies by the flags of this command only, not by flags of the build",
        )


def write_package(workspace: pathlib.Path, choices: Sequence[Choice], backend: str) -> str:
    """Writes PACKAGE into the workspace, with a copy of each policy, and returns the label of its installer.

    Slots without a choice have the policies of //release. The package is replaced; see `removed_package`.
    """
    folder = workspace / PACKAGE
    remove_package(workspace)
    folder.mkdir(parents=True)
    labels = {slot: f"@mlgo//release:{slot}" for slot in policy_slots()}
    groups = []
    for choice in choices:
        if choice.folder is None:
            labels[choice.slot] = "@mlgo//release:no_policy"
            continue
        shutil.copytree(choice.folder, folder / choice.slot, ignore=shutil.ignore_patterns(*_BAZEL_FILES))
        groups.append(f'filegroup(name = "{choice.slot}_files", srcs = glob(["{choice.slot}/**"]))\n')
        labels[choice.slot] = f":{choice.slot}_files"
    (folder / "BUILD.bazel").write_text(_build_file(groups, labels, backend), encoding="utf-8")
    return f"//{PACKAGE}:install"


def _build_file(groups: Sequence[str], labels: Mapping[str, str], backend: str) -> str:
    policies = "".join(f'    {slot} = "{label}",\n' for slot, label in labels.items())
    problems = "".join(
        f'        "{label}": "{policy_slots()[slot]["problem"]}",\n'
        for slot, label in labels.items()
        if not label.endswith(":no_policy")
    )
    return f"""# Written by ./bazelw run //release:install, and removed when it ends.
load("@mlgo//release:defs.bzl", "mlgo_clang")
load("@mlgo//release/installation:defs.bzl", "compiler_install")
load("@mlgo//release/packaging:defs.bzl", "compiler_tarball")

{"".join(groups)}
mlgo_clang(
    name = "clang",
    backend = "{backend}",
{policies})

compiler_tarball(
    name = "tarball",
    backend = "{backend}",
    compiler = ":clang",
    policies = {{
{problems}    }},
)

compiler_install(
    name = "install",
    tarball = "tarball",
)
"""


def remove_package(workspace: pathlib.Path) -> None:
    """Removes PACKAGE from the workspace."""
    shutil.rmtree(workspace / PACKAGE, ignore_errors=True)


def build_command(
    workspace: pathlib.Path, archive: pathlib.Path, build_flags: Sequence[str], environment: Mapping[str, str]
) -> list[str]:
    """The words that start Bazel's `run` in this workspace, with the server that has built `archive`.

    Raises: RunError: there is no Bazel.
    """
    program = workspace / "bazelw"
    if not program.exists():
        found = environment.get("BAZEL") or shutil.which("bazel", path=environment.get("PATH", os.defpath))
        if not found:
            raise RunError(
                "the policies that are not inside", "need Bazel, and there is no bazelw and no bazel", "Set BAZEL"
            )
        program = pathlib.Path(found)
    base, separator, _ = os.path.realpath(archive).partition("/execroot/")
    startup = [f"--output_base={base}"] if separator else []
    return [str(program), *startup, "run", *build_flags]


def run_build(command: Sequence[str], workspace: pathlib.Path) -> int:
    """Runs the command in the workspace and returns its exit code."""
    return subprocess.run(list(command), cwd=workspace, check=False).returncode
