"""Checkpoints: named arrays and a few JSON values, on disk either whole or not at all. Nothing is pickled.

A checkpoint NAME is two files in its directory: NAME-<first 16 digits of its sha256>.npz with the arrays, and
NAME.json, written last, which names it and its digest. NAME.json is replaced in one step, so a reader sees the old
checkpoint or the new one; the old arrays are deleted after that. Equal content gives equal bytes.
"""

import hashlib
import io
import os
import pathlib
import zipfile
from collections.abc import Mapping
from typing import Any

import numpy as np

from mlgo.run.exit_codes import RunError
from mlgo.run.files import read_json, write_atomically, write_json_atomically

#: A checkpoint above this size is not ours: the largest network has 100,000 weights and two optimiser slots each.
MAX_CHECKPOINT_BYTES = 2 * 1024**3
_FORMAT = "mlgo checkpoint 1"
_REMEDY = "Delete the directory to start this stage afresh, or restore it from a copy"


def encode_arrays(arrays: Mapping[str, np.ndarray]) -> bytes:
    """The arrays as .npz bytes: sorted by name, without the time stamps that numpy.savez leaves.

    Raises: ValueError: an array holds Python objects.
    """
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_STORED) as archive:
        for name in sorted(arrays):
            content = io.BytesIO()
            np.lib.format.write_array(content, np.asarray(arrays[name], order="C"), allow_pickle=False)
            archive.writestr(zipfile.ZipInfo(f"{name}.npy", (1980, 1, 1, 0, 0, 0)), content.getvalue())
    return buffer.getvalue()


def decode_arrays(content: bytes, what: str) -> dict[str, np.ndarray]:
    """The inverse of `encode_arrays`; `what` names the source in errors.

    Raises: RunError: not an archive of plain arrays.
    """
    try:
        with np.load(io.BytesIO(content), allow_pickle=False) as archive:
            return {name: archive[name] for name in archive.files}
    except (ValueError, OSError, EOFError, KeyError, zipfile.BadZipFile) as error:
        raise RunError(what, f"is not an archive of plain arrays: {error}", _REMEDY) from error


def digest_of(arrays: Mapping[str, np.ndarray]) -> str:
    """sha256 of `encode_arrays`."""
    return hashlib.sha256(encode_arrays(arrays)).hexdigest()


def save_checkpoint(
    folder: str | os.PathLike[str], name: str, arrays: Mapping[str, np.ndarray], facts: Mapping[str, Any]
) -> None:
    """Replaces checkpoint `name` in `folder` by these arrays and JSON values."""
    folder = pathlib.Path(folder)
    content = encode_arrays(arrays)
    digest = hashlib.sha256(content).hexdigest()
    array_file = f"{name}-{digest[:16]}.npz"
    write_atomically(folder / array_file, content)
    write_json_atomically(
        folder / f"{name}.json", {"format": _FORMAT, "arrays": array_file, "sha256": digest, "facts": dict(facts)}
    )
    remove_superseded(folder, name)


def remove_superseded(folder: str | os.PathLike[str], name: str) -> None:
    """Deletes arrays that checkpoint `name` had before its current ones: a process killed while saving leaves them
    behind.
    """
    folder = pathlib.Path(folder)
    current = read_json(folder / f"{name}.json", "the checkpoint", _REMEDY)["arrays"]
    for old in folder.glob(f"{name}-*.npz"):
        if old.name != current:
            old.unlink(missing_ok=True)


def load_checkpoint(folder: str | os.PathLike[str], name: str) -> tuple[dict[str, np.ndarray], dict[str, Any]] | None:
    """(arrays, facts) of checkpoint `name`; None when there is none.

    Raises: RunError: it is there but damaged.
    """
    folder = pathlib.Path(folder)
    manifest_path = folder / f"{name}.json"
    if not manifest_path.exists():
        return None
    manifest = read_json(manifest_path, "the checkpoint", _REMEDY)
    if not isinstance(manifest, dict) or manifest.get("format") != _FORMAT:
        raise RunError(f"the checkpoint {manifest_path}", f"is not of format {_FORMAT!r}", _REMEDY)
    array_path = folder / pathlib.PurePath(str(manifest.get("arrays"))).name
    what = f"the checkpoint arrays {array_path}"
    try:
        if array_path.stat().st_size > MAX_CHECKPOINT_BYTES:
            raise RunError(what, f"are larger than {MAX_CHECKPOINT_BYTES} bytes", _REMEDY)
        content = array_path.read_bytes()
    except OSError as error:
        raise RunError(what, f"cannot be read: {error.strerror}", _REMEDY) from error
    digest = hashlib.sha256(content).hexdigest()
    if digest != manifest.get("sha256"):
        raise RunError(what, f"have sha256 {digest}, the manifest says {manifest.get('sha256')}", _REMEDY)
    return decode_arrays(content, what), dict(manifest.get("facts", {}))
