"""A gn project, as rules and flags describe it, and its configuration for root targets of ours."""

import dataclasses
import hashlib
import pathlib
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from mlgo.corpus.gn import gn_build, source_root
from mlgo.corpus.gn.gn_build import Configured
from mlgo.run import locate


@dataclasses.dataclass(frozen=True)
class Project:
    """Attributes:
    tree: its root folder; is not written to.
    tools: gn and ninja.
    python: the interpreter of the project's scripts.
    arguments: of gn, values as gn writes them.
    environment: of gn and ninja, besides PATH and the locale.
    toolchain: names below //mlgo_toolchain and the files or folders they refer to.
    path: folders below //mlgo_toolchain with programs that are started by name.
    fingerprints: small files that change when tree or toolchain change.
    placed: paths from the project's root and the files or folders that the build finds there besides the tree's.
    copied: folders of the tree of which the build sees copies instead of links: scripts there that compare where they
      lie with paths in the build would be led into the tree.
    """

    tree: pathlib.Path
    tools: gn_build.Tools
    python: pathlib.Path
    arguments: Mapping[str, str]
    environment: Mapping[str, str]
    toolchain: Mapping[str, pathlib.Path]
    path: Sequence[str]
    fingerprints: Sequence[pathlib.Path]
    placed: Mapping[str, pathlib.Path] = dataclasses.field(default_factory=dict)
    copied: Sequence[str] = ()


def configure(
    project: Project,
    work: pathlib.Path,
    targets: Sequence[str],
    library_flags: Sequence[str] | None = None,
    added: Mapping[str, str] | None = None,
) -> Configured:
    """Prepares the folder `work` and runs `gn gen` there for a root target of all `targets`.

    Args:
      library_flags: options of the link of a shared library of what they hold; None: the root target is a group.
      added: further files of the project, by path from its root.

    Raises: RunError: the tree, an argument or a target is not usable; gn's own words when it is gn that says so.
    """
    contents = {
        f"{source_root.ROOT_FOLDER}/BUILD.gn": source_root.root_build_file(targets, library_flags),
        f"{source_root.OUT_FOLDER}/corpus/args.gn": source_root.args_text(project.arguments),
        **(added or {}),
    }
    fingerprints = {
        "contents": contents,
        "environment": dict(project.environment),
        "inputs": [hashlib.sha256(path.read_bytes()).hexdigest() for path in project.fingerprints],
        "toolchain": sorted(project.toolchain),
        **({"placed": sorted(project.placed)} if project.placed else {}),
        **({"copied": sorted(project.copied)} if project.copied else {}),
    }
    layout = source_root.prepare(
        work.absolute(),
        project.tree.absolute(),
        project.toolchain,
        contents,
        fingerprints,
        project.placed,
        project.copied,
    )
    source_root.add_programs(
        layout, {"python3": [project.python.absolute()], "ninja": [project.tools.ninja.absolute()]}
    )
    environment = gn_build.environment_of(layout, project.path, project.environment)
    configured = Configured(layout, project.tools, environment)
    gn_build.generate(configured, source_root.GROUP if library_flags is None else source_root.LIBRARY)
    return configured


def project_of(content: Mapping[str, Any], locate: Callable[[str], pathlib.Path]) -> Project:
    """The project that the fields of such a file describe.

    Args: locate: finds a runfile of the target.
    Raises: AttributeError, KeyError, TypeError: a field is missing or of another type.
    """

    def located(paths: Mapping[str, str]) -> dict[str, pathlib.Path]:
        return {name: locate(path) for name, path in paths.items()}

    return Project(
        tree=locate(content["tree"]),
        tools=gn_build.Tools(locate(content["gn"]), locate(content["ninja"])),
        python=locate(content["python"]),
        arguments=content["gn_args"],
        environment=content["env"],
        toolchain=located(content["toolchain"]),
        path=content["path"],
        fingerprints=list(map(locate, content["fingerprints"])),
        placed=located(content.get("placed", {})),
        copied=content.get("copied", []),
    )


def runfiles_of(path: pathlib.Path) -> Callable[[str], pathlib.Path]:
    """What finds the runfiles of the target that made the file at `path`: beside it, or among those of the command."""
    folder = path.with_name(f"{path.name}.runfiles")
    return folder.joinpath if folder.is_dir() else locate.rlocation
