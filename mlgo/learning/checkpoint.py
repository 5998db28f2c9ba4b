"""Checkpoints: named arrays and a few JSON values, on disk either whole or not at all. Nothing is pickled.

A checkpoint NAME is two files in its directory: NAME-<first 16 digits of its sha256>.npz with the arrays, and
NAME.json, written last, which names it and its digest. NAME.json is replaced in one step, so a reader sees the old
checkpoint or the new one; the old arrays are deleted after that. Equal content gives equal bytes.
"""

import hashlib
import io
import math
import os
import pathlib
import struct
import tokenize
import zipfile
import zlib
from collections.abc import Callable, Iterable, Mapping
from typing import Any, BinaryIO

import numpy as np

from mlgo.run.exit_codes import RunError
from mlgo.run.files import read_json, write_atomically, write_json_atomically
from mlgo.run.json_fields import Fields
from mlgo.run.regular_file import read_file

#: A checkpoint above this size is not ours: the largest network has 100,000 weights and two optimiser slots each.
MAX_CHECKPOINT_BYTES = 2 * 1024**3
_FORMAT = "mlgo checkpoint 1"

#: Versions of NumPy's format -> readers of their headers, which are Python literals and evaluated as such.
_HEADER_READERS: Mapping[tuple[int, int], Callable[[BinaryIO], tuple[tuple[int, ...], bool, np.dtype]]] = {
    (1, 0): np.lib.format.read_array_header_1_0,
    (2, 0): np.lib.format.read_array_header_2_0,
}
#: What zipfile and NumPy raise for damaged content; RuntimeError: also NotImplementedError and RecursionError.
_DAMAGE = (
    *(ArithmeticError, EOFError, LookupError, MemoryError, OSError, RuntimeError, SyntaxError, TypeError, ValueError),
    *(struct.error, tokenize.TokenError, zipfile.BadZipFile, zlib.error),
)
_REMEDY = "Delete the directory to start this stage afresh, or restore it from a copy"


def encode_arrays(arrays: Mapping[str, np.ndarray]) -> bytes:
    """The arrays as .npz bytes: sorted by name, without time stamps. Raises: ValueError: Python objects."""
    return _archive_of(arrays).getvalue()


def decode_arrays(content: bytes, what: str, remedy: str = _REMEDY) -> dict[str, np.ndarray]:
    """The inverse of `encode_arrays`. No size that the archive states is trusted: arrays are not compressed. Args:
    what: the source, for messages. Raises: RunError: not an archive of plain arrays.
    """
    try:
        with zipfile.ZipFile(io.BytesIO(content)) as archive:
            members = archive.infolist()
            if len({member.filename for member in members}) != len(members):
                raise ValueError("two members have one name")
            # Members that share their bytes could make a small file fill the memory.
            if sum(member.file_size for member in members) > len(content):
                raise ValueError(f"its members state more bytes than the {len(content)} of the archive")
            return {member.filename.removesuffix(".npy"): _decode_array(archive, member) for member in members}
    except _DAMAGE as error:
        # The first line: NumPy goes on with advice to trust the file.
        reason = str(error).partition("\n")[0].rstrip(".")
        raise RunError(what, f"is not an archive of plain arrays: {reason}", remedy) from error


def _decode_array(archive: zipfile.ZipFile, member: zipfile.ZipInfo) -> np.ndarray:
    """Raises: one of _DAMAGE: `member` is no array in NumPy's format."""
    if not member.filename.endswith(".npy") or member.compress_type != zipfile.ZIP_STORED:
        raise ValueError(f"the member {member.filename!r} is not an uncompressed .npy file")
    content = io.BytesIO(archive.read(member))
    version = np.lib.format.read_magic(content)
    if version not in _HEADER_READERS:
        raise ValueError(f"the member {member.filename!r} is of the version {version} of NumPy's format")
    shape, is_fortran, dtype = _HEADER_READERS[version](content)
    if dtype.kind not in "biuf" or is_fortran or any(size < 0 for size in shape):
        raise ValueError(f"the member {member.filename!r} is no plain array of numbers: {dtype}, shape {shape}")
    values = content.read()
    # Before anything is allocated: a header of a few bytes can state any shape.
    if math.prod(shape) * dtype.itemsize != len(values):
        raise ValueError(f"the member {member.filename!r} has {len(values)} bytes for {dtype} of the shape {shape}")
    return np.frombuffer(bytearray(values), dtype).reshape(shape)


def with_prefix(prefix: str, arrays: Mapping[str, np.ndarray]) -> dict[str, np.ndarray]:
    return {prefix + name: array for name, array in arrays.items()}


def pop_prefixed(prefix: str, arrays: dict[str, np.ndarray]) -> dict[str, np.ndarray]:
    """Removes the arrays whose names begin with `prefix`; returns them without it."""
    return {name.removeprefix(prefix): arrays.pop(name) for name in list(arrays) if name.startswith(prefix)}


def numbered(prefix: str, records: Iterable[Mapping[str, np.ndarray]]) -> dict[str, np.ndarray]:
    """The arrays of all records, under PREFIX/0/NAME, PREFIX/1/NAME, ..."""
    return {f"{prefix}/{index}/{name}": array for index, record in enumerate(records) for name, array in record.items()}


def pop_numbered(prefix: str, arrays: dict[str, np.ndarray]) -> list[dict[str, np.ndarray]]:
    """Removes what `numbered` named; returns the records."""
    records: list[dict[str, np.ndarray]] = []
    while record := pop_prefixed(f"{prefix}/{len(records)}/", arrays):
        records.append(record)
    return records


def digest_of(arrays: Mapping[str, np.ndarray]) -> str:
    return hashlib.sha256(_archive_of(arrays).getbuffer()).hexdigest()


def _archive_of(arrays: Mapping[str, np.ndarray]) -> io.BytesIO:
    """The bytes of `encode_arrays`; training data are large, so nothing of them is held twice."""
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_STORED) as archive:
        for name in sorted(arrays):
            with archive.open(zipfile.ZipInfo(f"{name}.npy", (1980, 1, 1, 0, 0, 0)), "w") as file:
                np.lib.format.write_array(file, np.asarray(arrays[name], order="C"), allow_pickle=False)
    return buffer


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
    """Deletes former arrays of checkpoint `name`, which a process killed while saving leaves behind."""
    folder = pathlib.Path(folder)
    current = _manifest(folder / f"{name}.json").read("arrays", str)
    for old in folder.glob(f"{name}-*.npz"):
        if old.name != current:
            old.unlink(missing_ok=True)


def load_checkpoint(folder: str | os.PathLike[str], name: str) -> tuple[dict[str, np.ndarray], dict[str, Any]] | None:
    """(arrays, facts) of checkpoint `name`; None when there is none. Raises: RunError: it is there but damaged."""
    manifest_path = pathlib.Path(folder, f"{name}.json")
    if not manifest_path.exists():
        return None
    manifest = _manifest(manifest_path)
    array_path = manifest_path.with_name(pathlib.PurePath(manifest.read("arrays", str)).name)
    content = read_file(array_path, MAX_CHECKPOINT_BYTES, "the checkpoint arrays", _REMEDY)
    digest, recorded = hashlib.sha256(content).hexdigest(), manifest.read("sha256", str)
    what = f"the checkpoint arrays ({array_path})"
    if digest != recorded:
        raise RunError(what, f"have sha256 {digest}, the manifest says {recorded}", _REMEDY)
    return decode_arrays(content, what), manifest.read("facts", dict)


def _manifest(path: pathlib.Path) -> Fields:
    """The fields of the JSON file of a checkpoint. Raises: RunError: it is none."""
    manifest = Fields(read_json(path, "the checkpoint", _REMEDY), f"the checkpoint ({path})", _REMEDY)
    if manifest.read("format", str) != _FORMAT:
        raise manifest.error(f"is not of format {_FORMAT!r}")
    return manifest
