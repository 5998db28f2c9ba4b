"""Stage manifests: inputs, configuration and outputs of a finished stage, in the last file that it writes."""

import dataclasses
import hashlib
import os
import pathlib
from collections.abc import Iterable, Mapping
from typing import Any

from mlgo.run import files
from mlgo.run.json_fields import Fields
from mlgo.run.regular_file import open_regular

#: The file name of a manifest inside its stage's folder.
FILE_NAME = "manifest.json"
#: Incremented when the meaning of a manifest changes; older manifests then count as absent.
FORMAT_VERSION = 1


@dataclasses.dataclass(frozen=True)
class Manifest:
    """One finished stage; digests are sha256 in hex."""

    stage: str  #: its name, "trace".
    inputs: Mapping[str, str]  #: digest of each input, by a name for the reader: {"corpus": "ab12..."}.
    configuration: Mapping[str, Any]  #: the settings that change its output; JSON values only.
    outputs: Mapping[str, str]  #: digest of every file it wrote, by path relative to the stage's folder.
    #: figures for the reader and for later stages; not part of the identity.
    summary: Mapping[str, Any] = dataclasses.field(default_factory=dict)

    @property
    def digest(self) -> str:
        """sha256 over the outputs; a later stage lists it among its inputs."""
        return digest_of_json(dict(self.outputs))


def write(folder: pathlib.Path, manifest: Manifest) -> None:
    """Marks the stage in `folder` as done."""
    content = {"format_version": FORMAT_VERSION, **dataclasses.asdict(manifest)}
    files.write_json_atomically(folder / FILE_NAME, content)


def read(folder: pathlib.Path) -> Manifest | None:
    """The manifest in `folder`; None: absent or of another format version. Raises: RunError: it is not a manifest."""
    path = folder / FILE_NAME
    if not path.exists():
        return None
    remedy = f"Delete {folder}; its stage then runs again"
    fields = Fields(files.read_json(path, "stage manifest", remedy), f"stage manifest ({path})", remedy)
    if not fields.has("format_version") or fields.read("format_version", int) != FORMAT_VERSION:
        return None
    return Manifest(
        stage=fields.read("stage", str),
        inputs=fields.texts_by_name("inputs"),
        configuration=fields.read("configuration", dict),
        outputs=fields.texts_by_name("outputs"),
        summary=fields.read("summary", dict) if fields.has("summary") else {},
    )


def read_if_current(
    folder: pathlib.Path, stage: str, inputs: Mapping[str, str], configuration: Mapping[str, Any]
) -> Manifest | None:
    """The manifest in `folder` if it is of these inputs and settings and its outputs are unchanged; None: run again."""
    manifest = read(folder)
    if manifest is None or manifest.stage != stage or dict(manifest.inputs) != dict(inputs):
        return None
    if files.encode_json(dict(manifest.configuration)) != files.encode_json(dict(configuration)):
        return None
    for name, digest in manifest.outputs.items():
        path = folder / name
        # Not `path.is_file()`, which raises for a name that is too long.
        if not os.path.isfile(path) or digest_of_file(path) != digest:
            return None
    return manifest


def digest_of_json(value: Any) -> str:
    """sha256 of `value`, which consists of JSON values, in the encoding of files.encode_json."""
    return digest_of_bytes(files.encode_json(value))


def digest_of_bytes(content: bytes) -> str:
    """sha256 in hex."""
    return hashlib.sha256(content).hexdigest()


def digest_of_file(path: str | os.PathLike[str]) -> str:
    """sha256 in hex of a file's bytes, read in pieces."""
    with open_regular(path) as descriptor, open(descriptor, "rb", closefd=False) as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def digests_of(folder: pathlib.Path, names: Iterable[str]) -> dict[str, str]:
    """sha256 in hex by name of the files `names` below `folder`."""
    return {name: digest_of_file(folder / name) for name in sorted(names)}


def files_below(folder: pathlib.Path) -> list[str]:
    """Relative paths, sorted, of all files below `folder` except its own manifest and unfinished files."""
    walked = ((directory, name) for directory, _, names in os.walk(folder) for name in names)
    found = (os.path.relpath(os.path.join(*place), folder) for place in walked)
    return sorted(name for name in found if name != FILE_NAME and not name.endswith(files.PARTIAL_SUFFIX))
