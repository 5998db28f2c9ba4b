"""Reads what the rules mlgo_gn_project and mlgo_gn_programs say about a project."""

import pathlib
from collections.abc import Callable, Mapping
from typing import Any

from mlgo.corpus.gn import gn_build
from mlgo.corpus.gn.project import Project
from mlgo.run import locate


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
