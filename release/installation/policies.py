"""Which policies an installation is to contain, and the workspace package that builds a compiler with them."""

import contextlib
import dataclasses
import fcntl
import os
import pathlib
import shutil
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from mlgo.policy.identity import identity
from mlgo.problems.slots import policy_slots
from mlgo.run import locate
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


def inside(provenance: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    """The entries of the policies that a provenance.json names: several for a problem if they have names."""
    return list(provenance["predicate"]["buildDefinition"]["externalParameters"]["policies"])


def differing(choices: Sequence[Choice], provenance: Mapping[str, Any]) -> list[Choice]:
    """The choices that the compiler of `provenance` does not meet."""
    present: dict[str, list[str]] = {}
    for policy in inside(provenance):
        present.setdefault(policy["problem"], []).append(policy["sha256"])
    return [
        choice
        for choice in choices
        if present.get(choice.problem, []) != ([] if choice.digest is None else [choice.digest])
    ]


@contextlib.contextmanager
def built(
    workspace: pathlib.Path,
    choices: Sequence[Choice],
    backend: str,
    build: Callable[[str], pathlib.Path] = locate.user_path,
) -> Iterator[pathlib.Path]:
    """The archive of a compiler with the chosen policies, built in PACKAGE, which exists until the end of the block.

    Slots without a choice have the policies of the build that made this command.

    Args: build: makes the file that a label stands for.

    Raises: RunError: it cannot be built, or another command is using PACKAGE.
    """
    out = workspace / PACKAGE
    out.parent.mkdir(exist_ok=True)
    lock = os.open(out.parent, os.O_RDONLY | os.O_DIRECTORY)
    try:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError as error:
            raise RunError(str(out), "is in use by another installation", "Wait for it") from error
        shutil.rmtree(out, ignore_errors=True)
        try:
            _write_package(out, choices, backend)
            yield _archive(choices, build)
        finally:
            shutil.rmtree(out, ignore_errors=True)
    finally:
        os.close(lock)


def _archive(choices: Sequence[Choice], build: Callable[[str], pathlib.Path]) -> pathlib.Path:
    try:
        return build(f"//{PACKAGE}:tarball_tree")
    except RunError as error:
        given = ", ".join(f"--{choice.slot}={choice.folder or NONE}" for choice in choices)
        raise RunError(
            given, "cannot be built into a compiler", "Bazel's messages above name the file and the remedy"
        ) from error


def _write_package(folder: pathlib.Path, choices: Sequence[Choice], backend: str) -> None:
    """Writes the package, with a copy of each policy: Bazel reads no files outside of a workspace."""
    folder.mkdir(parents=True)
    labels = {slot: f"@mlgo//release:{slot}" for slot in policy_slots()}
    groups = []
    for choice in choices:
        if choice.folder is None:
            labels[choice.slot] = "@mlgo//release:no_policy"
            continue
        _copy(choice.folder, folder / choice.slot)
        groups.append(f'filegroup(name = "{choice.slot}_files", srcs = glob(["{choice.slot}/**"]))\n')
        labels[choice.slot] = f":{choice.slot}_files"
    (folder / "BUILD.bazel").write_text(_build_file(groups, labels, backend), encoding="utf-8")


def _copy(policy: pathlib.Path, target: pathlib.Path) -> None:
    """Raises: RunError: the policy holds something else than files and folders, or cannot be copied."""
    remedy = "Give a folder with the files of the policy only"
    for directory, folders, names in os.walk(policy):
        for path in (pathlib.Path(directory, name) for name in [*folders, *names]):
            if path.is_symlink() or not (path.is_file() or path.is_dir()):
                raise RunError(f"the policy {policy}", f"{path.name} is no regular file or folder", remedy)
    try:
        shutil.copytree(policy, target, ignore=shutil.ignore_patterns(*_BAZEL_FILES))
    except OSError as error:  # Also shutil.Error, of several files.
        raise RunError(f"the policy {policy}", f"cannot be copied: {error}", remedy) from error


def _build_file(groups: Sequence[str], labels: Mapping[str, str], backend: str) -> str:
    policies = "".join(f'    {slot} = "{label}",\n' for slot, label in labels.items())
    problems = "".join(
        f'        "{label}": "{policy_slots()[slot]["problem"]}",\n'
        for slot, label in labels.items()
        if not label.endswith(":no_policy")
    )
    return f"""# Written by ./bazelw run //release:install, and removed when it ends.
load("@mlgo//release:defs.bzl", "mlgo_clang")
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
"""
