"""The actor that Ray starts on a node. Ray sends this class itself there; the rest of our code arrives as its argument.

A node needs Ray, Python of the driver's version and numpy, but no checkout, and it always runs the driver's code. This
module imports only the standard library: the node has nothing else yet.
"""

import hashlib
import io
import os
import pathlib
import pickle
import sys
import tarfile
import tempfile


class NodeActor:
    """Unpacks our code and hands every call to `mlgo.cluster.node.CompileNode`.

    Args:
      code: tar archive made by `mlgo.cluster.package.pack_code`.
      digest: its sha256 (hex).
      capacity_bytes: of the cache.
    """

    def __init__(self, code: bytes, digest: str, capacity_bytes: int):
        if hashlib.sha256(code).hexdigest() != digest:
            raise RuntimeError(f"the code that arrived is not the one with digest {digest}")
        # This process's own; it goes with the process's temporary directory object.
        self._root = tempfile.TemporaryDirectory(prefix="mlgo-node-")
        with tarfile.open(fileobj=io.BytesIO(code)) as archive:
            for member in archive:
                path = pathlib.Path(self._root.name, member.name)
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_bytes(archive.extractfile(member).read())
                path.chmod(member.mode)
        # The node may itself have been started from a checkout: neither its runfiles nor its modules are meant.
        os.environ["RUNFILES_DIR"] = self._root.name
        for name in ("RUNFILES_MANIFEST_FILE", "RUNFILES_MANIFEST_ONLY"):
            os.environ.pop(name, None)
        for name in [name for name in sys.modules if name.split(".")[0] in ("mlgo", "runfiles")]:
            del sys.modules[name]
        sys.path.insert(0, os.path.join(self._root.name, "_main"))
        sys.dont_write_bytecode = True
        from mlgo.cluster import blobs, node  # pylint: disable=import-outside-toplevel
        from mlgo.compiler import walls  # pylint: disable=import-outside-toplevel

        folder = os.environ.get("MLGO_CLUSTER_CACHE") or pathlib.Path(
            os.environ.get("XDG_CACHE_HOME") or pathlib.Path.home() / ".cache", "mlgo", "cluster"
        )
        self._cache = blobs.BlobCache(folder, capacity_bytes)
        self._node = node.CompileNode(self._cache)
        self._gaps = walls.gaps(walls.limited_exec())

    def gaps(self) -> str | None:
        """Answers when everything is in place: see `mlgo.compiler.walls.gaps`."""
        return self._gaps

    def compile(self, run: str, parcel: bytes) -> bytes:
        """See `CompileNode.compile`, `Answer.to_bytes`."""
        return self._node.compile(run, pickle.loads(parcel)).to_bytes()

    def append(self, digest: str, offset: int, piece: bytes, is_last: bool) -> str | None:
        """See `BlobCache.append`; returns what went wrong."""
        try:
            self._cache.append(digest, offset, piece, is_last)
        except OSError as error:
            return f"{self._cache.folder}: {error.strerror}"
        return None

    def read(self, digest: str, offset: int, size: int) -> bytes:
        """See `BlobCache.read`: a piece for another node, to which Ray brings it."""
        return self._cache.read(digest, offset, size)

    def missing(self, digests: list[str]) -> list[str]:
        """Those of `digests` that must be sent."""
        return [digest for digest in digests if self._cache.path(digest) is None]

    def end(self, run: str) -> None:
        """See `CompileNode.end`."""
        self._node.end(run)
