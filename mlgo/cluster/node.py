"""What runs on a node: one compile from a parcel and the cache, by the same code as on the driver's own cores."""

import dataclasses
import functools
import os
import pathlib
import pickle
import zlib
from collections.abc import Callable, Iterable

from mlgo.cluster.blobs import BlobCache, DamagedBlob
from mlgo.cluster.parcel import Parcel
from mlgo.compiler import machine, process, scratch
from mlgo.compiler.attempts import certain_outcome
from mlgo.compiler.request import CompileDisturbed, CompileFailure, CompileRequest, CompileResult
from mlgo.corpus import corpus as corpora
from mlgo.run import files
from mlgo.run.exit_codes import RunError

__all__ = ["DamagedBlob", "NotCompiled", "compile_parcel", "missing_protections", "outcome_of"]
#: Disk that the cache of a node may take: a compiler has 200 MB, the bitcode of LLVM and Clang 2 GB.
_CACHE_BYTES = 20 * 1024**3
#: What is unpacked for a compile, below its temporary directory. Messages of a compiler may hold its name.
_CORPUS, _MODEL, _CLANG = "corpus", "model", "clang"
#: zlib's fastest level; 6 makes eviction logs smaller by a third in thrice the time.
_LEVEL = 1


class NotCompiled(Exception):
    """The machine, and not the module, is why there is no outcome; the message says what it lacks."""


def compile_parcel(parcel: bytes, pieces_of: Callable[[str], Iterable[bytes]]) -> bytes:
    """Compiles a pickled `Parcel`. Raises: NotCompiled; DamagedBlob: a content is not what its digest says.

    Args: pieces_of: brings the content with a sha256 here, in pieces; called for what the cache lacks.
    Returns: the outcome, for `outcome_of`. Compressed, which takes 2 ms of a compile of 800 ms: logs are mostly zeros
      and shrink to a twentieth, and Ray sends 100 KB much faster than more.
    """
    what: Parcel = pickle.loads(parcel)
    try:
        with _cache() as cache, machine.recognised_shortages(), scratch.scratch_directory() as directory:
            found = {digest: cache.path(digest, pieces_of(digest)) for digest in what.all_digests()}
            request = _unpack(what, found, pathlib.Path(directory))
            outcome = certain_outcome(request)
            if isinstance(outcome, CompileFailure):  # With the driver's paths: outcomes are the same on every node.
                detail = outcome.detail.replace(str(request.clang), what.shown[0])
                if what.shown[1] is not None:
                    detail = detail.replace(str(request.model_dir), what.shown[1])
                outcome = dataclasses.replace(outcome, detail=detail)
    except (CompileDisturbed, RunError, OSError) as error:
        raise NotCompiled(str(error)) from error
    return zlib.compress(pickle.dumps(outcome, protocol=5), _LEVEL)


def outcome_of(message: bytes) -> CompileResult | CompileFailure:
    """What `compile_parcel` returned; arrays are the reader's own memory."""
    return pickle.loads(zlib.decompress(message))


@functools.cache
def missing_protections() -> str | None:
    """What does not confine compiles here (`mlgo.compiler.process.missing_protections`)."""
    return process.missing_protections(process.limited_exec())


@functools.cache
def _cache() -> BlobCache:
    cache = os.environ.get("XDG_CACHE_HOME") or pathlib.Path.home() / ".cache"
    return BlobCache(os.environ.get("MLGO_CLUSTER_CACHE") or pathlib.Path(cache, "mlgo", "cluster"), _CACHE_BYTES)


def _unpack(parcel: Parcel, found: dict[str, pathlib.Path], directory: pathlib.Path) -> CompileRequest:
    """The request that the driver packed, with paths of this machine: the module is a corpus of one."""
    places = {name: _place(name, directory) for name in (*parcel.digests, *parcel.contents)}
    for place in places.values():
        place.parent.mkdir(parents=True, exist_ok=True)
    for name, digest in parcel.digests.items():
        places[name].symlink_to(found[digest])
    for name, content in parcel.contents.items():
        places[name].write_bytes(content)
    clang = directory / _CLANG
    clang.symlink_to(found[parcel.clang])
    description = {"modules": [parcel.module_name], "has_thinlto": parcel.has_thinlto}
    (directory / _CORPUS / corpora.DESCRIPTION_NAME).write_bytes(files.encode_json(description))
    (module,) = corpora.Corpus.load(directory / _CORPUS, parcel.allowed_options).modules
    model_dir = directory / _MODEL if parcel.shown[1] is not None else None
    return dataclasses.replace(parcel.request, clang=clang, module=module, model_dir=model_dir)


def _place(name: str, directory: pathlib.Path) -> pathlib.Path:
    parts = pathlib.PurePosixPath(name).parts
    if parts[0] not in (_CORPUS, _MODEL) or ".." in parts:
        raise ValueError(f"file {name!r} of a parcel would lie elsewhere")
    return directory / name
