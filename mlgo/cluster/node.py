"""What runs on a node: one compile from a parcel and the cache, by the same code as on the driver's own cores."""

import dataclasses
import enum
import pathlib
import pickle
import threading
import zlib

from mlgo.cluster.blobs import BlobCache
from mlgo.cluster.parcel import Parcel
from mlgo.compiler import machine, scratch
from mlgo.compiler.attempts import certain_outcome
from mlgo.compiler.process import Cancellation, Cancelled
from mlgo.compiler.request import CompileDisturbed, CompileFailure, CompileRequest, CompileResult
from mlgo.corpus import corpus as corpora
from mlgo.run import files
from mlgo.run.exit_codes import RunError

#: What is unpacked for a compile, below its temporary directory. Messages of a compiler may hold its name.
_CORPUS, _MODEL, _CLANG = "corpus", "model", "clang"

#: The fastest; 6 makes eviction logs smaller by a third in thrice the time.
_LEVEL = 1


class AnswerKind(enum.Enum):
    """What a node says to a parcel."""

    #: The compile was done; `content` is its outcome.
    OUTCOME = "outcome"
    #: `content` lists digests that must be sent first.
    MISSING = "missing"
    #: No compile can be done here; `content` says why.
    UNUSABLE = "unusable"
    #: The driver gave up.
    CANCELLED = "cancelled"


@dataclasses.dataclass(frozen=True)
class Answer:
    """A node's answer; what `content` is, its kind says."""

    kind: AnswerKind
    content: CompileResult | CompileFailure | list[str] | str | None = None

    def to_bytes(self) -> bytes:
        """The message to the driver: arrays arrive as the reader's own memory.

        Compressed, which takes 2 ms of a compile of 800 ms: logs are mostly zeros and shrink to a twentieth. A network
        of 10 Gbit/s carries those of 1,300 compiles at a time uncompressed, and Ray sends 100 KB much faster than more.
        """
        return zlib.compress(pickle.dumps(self, protocol=5), _LEVEL)

    @staticmethod
    def from_bytes(message: bytes) -> "Answer":
        """The answer in a message of `to_bytes`."""
        return pickle.loads(zlib.decompress(message))


class CompileNode:
    """Compiles parcels with what its cache holds. May be used by several threads."""

    def __init__(self, cache: BlobCache):
        self._cache = cache
        self._cancellations: dict[str, Cancellation] = {}
        self._ended: set[str] = set()
        self._triggered = Cancellation()
        self._triggered.trigger()
        self._lock = threading.Lock()

    def compile(self, run: str, parcel: Parcel) -> Answer:
        """Compiles, unless something is missing.

        Args: run: names what `end` ends.
        """
        found = {digest: self._cache.path(digest) for digest in parcel.all_digests()}
        if missing := [digest for digest, path in found.items() if path is None]:
            return Answer(AnswerKind.MISSING, missing)
        try:
            with machine.recognised_shortages(), scratch.scratch_directory() as directory:
                request = _unpack(parcel, found, pathlib.Path(directory))
                outcome = certain_outcome(request, self._cancellation(run))
                return Answer(AnswerKind.OUTCOME, _as_the_driver_would_say(outcome, request, parcel))
        except Cancelled:
            return Answer(AnswerKind.CANCELLED)
        except (CompileDisturbed, RunError) as error:
            return Answer(AnswerKind.UNUSABLE, str(error))

    def end(self, run: str) -> None:
        """Ends the compiles of a run, those too that arrive later."""
        with self._lock:
            self._ended.add(run)
            if (cancellation := self._cancellations.pop(run, None)) is not None:
                cancellation.trigger()

    def _cancellation(self, run: str) -> Cancellation:
        with self._lock:
            if run in self._ended:
                return self._triggered
            return self._cancellations.setdefault(run, Cancellation())


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


def _as_the_driver_would_say(
    outcome: CompileResult | CompileFailure, request: CompileRequest, parcel: Parcel
) -> CompileResult | CompileFailure:
    """The outcome with the driver's paths in messages: outcomes are the same on every node."""
    if not isinstance(outcome, CompileFailure):
        return outcome
    clang, model = parcel.shown
    detail = outcome.detail.replace(str(request.clang), clang)
    if model is not None:
        detail = detail.replace(str(request.model_dir), model)
    return dataclasses.replace(outcome, detail=detail)
