"""Named arrays in one compressed file: how traces are stored. Reading needs no pickle and trusts no length it reads."""

import json
import math
import pathlib
from collections.abc import Mapping

import numpy as np
import zstandard

from mlgo.run.exit_codes import RunError
from mlgo.run.regular_file import read_file

#: First bytes of a file, before the compressed part; the digit is the format's version.
MAGIC = b"mlgo-arrays-1\n"
#: Files that claim to hold more than this are refused. The largest module seen (SimplifyCFG) has 10 MB uncompressed.
MAX_UNCOMPRESSED_BYTES = 8 * 1024**3
#: The same for files that claim more than this many times their size: the decoder allocates what a file claims. Logs
#: shrink to a 25th; a file of zeros may claim the free bytes.
MAX_RATIO = 1000
_RATIO_FREE_BYTES = 64 * 1024**2
#: Place of the descriptor in a Zstandard frame, and the two bits of it whose damage a decoder does not notice:
#: "reserved, unused" must be 0, and "content checksum" 1, as `encode` writes them (RFC 8878, section 3.1.1.1.1).
_DESCRIPTOR, _UNGUARDED_BITS, _WRITTEN_BITS = 4, 0b0001_0100, 0b0000_0100
#: Of an array of NumPy 1.
_MOST_DIMENSIONS = 32
_DTYPES = ("<f4", "<f8", "<i4", "<i8", "|u1")
#: Training logs are mostly zeros: level 1 makes them 25 times smaller at over 500 MB/s.
_LEVEL = 1
_REMEDY = "Delete it and run the same command again; it is then made again"


def encode(arrays: Mapping[str, np.ndarray]) -> bytes:
    """The file's content for `arrays`; equal arrays in the same order give equal bytes.

    Raises: ValueError: a dtype is not float32, float64, int32, int64 or uint8.
    """
    described, parts = [], []
    for name, array in arrays.items():
        array = np.asarray(array)
        dtype = array.dtype.newbyteorder("<").str
        if dtype not in _DTYPES:
            raise ValueError(f"array {name!r}: dtype {array.dtype} cannot be stored; use one of {', '.join(_DTYPES)}")
        described.append({"name": name, "dtype": dtype, "shape": list(array.shape)})
        parts.append(array.astype(dtype, copy=False).tobytes())
    header = json.dumps(described, sort_keys=True).encode("utf-8") + b"\n"
    compressor = zstandard.ZstdCompressor(level=_LEVEL, write_checksum=True)
    return MAGIC + compressor.compress(b"".join([header, *parts]))


def read(path: pathlib.Path, what: str) -> dict[str, np.ndarray]:
    """The arrays in the file at `path`; `what` names it in messages. Raises: RunError: also when it cannot be read."""
    content = read_file(path, MAX_UNCOMPRESSED_BYTES, what, _REMEDY)
    return decode(content, f"{what} ({path})")


def decode(content: bytes, what: str) -> dict[str, np.ndarray]:
    """The arrays in `content`, read-only. Raises: RunError: it is damaged or no file of `encode`; names it `what`."""
    if not content.startswith(MAGIC):
        raise RunError(what, "does not start like a file of arrays", _REMEDY)
    frame = content[len(MAGIC) :]
    try:
        size = zstandard.frame_content_size(frame)
        most = min(MAX_UNCOMPRESSED_BYTES, _RATIO_FREE_BYTES + MAX_RATIO * len(frame))
        if not 0 <= size <= most:
            raise RunError(what, f"claims {size} bytes, where 0 to {most} are allowed", _REMEDY)
        if frame[_DESCRIPTOR] & _UNGUARDED_BITS != _WRITTEN_BITS:
            raise RunError(what, "is damaged: its checksum is off", _REMEDY)
        raw = zstandard.ZstdDecompressor().decompress(frame, max_output_size=size)
        # Not `partition`, which copies what comes after.
        header = raw[: max(raw.find(b"\n"), 0)]
        arrays, offset = {}, len(header) + 1
        for entry in json.loads(header):
            name, dtype, shape = entry["name"], entry["dtype"], entry["shape"]
            # The product of many large numbers takes hours.
            possible = dtype in _DTYPES and len(shape) <= _MOST_DIMENSIONS
            possible = possible and all(type(n) is int and n >= 0 for n in shape)
            if not possible or math.prod(shape) > len(raw) or name in arrays:
                raise RunError(what, f"describes an impossible array {str(entry):.200}", _REMEDY)
            array = np.frombuffer(raw, dtype, math.prod(shape), offset)
            arrays[name] = array.reshape(shape)
            offset += array.nbytes
    except (zstandard.ZstdError, ValueError, KeyError, TypeError, RecursionError, OverflowError) as error:
        raise RunError(what, f"is damaged: {error}", _REMEDY) from error
    if offset != len(raw):
        raise RunError(what, f"has {len(raw) - offset} bytes too many", _REMEDY)
    return arrays
