"""The task that Ray runs on a node. Ray sends this module itself there; the rest of our code arrives as an argument.

A node needs Ray, Python of the driver's version and numpy, but no checkout, and it always runs the driver's code. This
module imports only the standard library: the node has nothing else yet.
"""

import hashlib
import io
import os
import pathlib
import sys
import tarfile
import tempfile

#: This process's copy of our code: at most one, kept until the process ends.
_unpacked: list[tempfile.TemporaryDirectory] = []


class UnusableNode(Exception):
    """No compile can be done on this node now; the message says why."""


class ChangedFile(Exception):
    """A file is no longer what it was when the run first read it."""


def compile_on_node(code: list, digest: str, parcel: bytes, sources: dict[str, list]) -> tuple[str, str | None, bytes]:
    """Compiles `parcel` (mlgo/cluster/node.py) with the driver's code. Raises: UnusableNode; ChangedFile.

    Args:
      code: one reference to the archive that `mlgo.cluster.parcel.pack_code` makes, of this digest. References are
        inside a container, so that Ray brings here only what is asked for.
      sources: by sha256, references to the pieces of the contents that the parcel names.

    Returns: the node's id; what `mlgo.compiler.process.missing_protections` says here; and the packed outcome.
    """
    import ray

    if not _unpacked:
        _unpack(ray.get(code[0]), digest)
    from mlgo.cluster import node  # pylint: disable=import-outside-toplevel

    try:
        outcome = node.compile_parcel(parcel, lambda digest: map(ray.get, sources[digest]))
    except node.NotCompiled as error:
        raise UnusableNode(str(error)) from None
    except node.DamagedBlob as error:
        raise ChangedFile(str(error)) from None
    return ray.get_runtime_context().get_node_id(), node.missing_protections(), outcome


def _unpack(code: bytes, digest: str) -> None:
    """Makes the modules and files in the archive this process's own."""
    if hashlib.sha256(code).hexdigest() != digest:
        raise RuntimeError(f"the code that arrived is not the one with digest {digest}")
    root = tempfile.TemporaryDirectory(prefix="mlgo-node-")
    with tarfile.open(fileobj=io.BytesIO(code)) as archive:
        archive.extractall(root.name)  # The digest says that it is ours.
    # The node may itself have been started from a checkout: neither its runfiles nor its modules are meant.
    os.environ["RUNFILES_DIR"] = root.name
    for name in ("RUNFILES_MANIFEST_FILE", "RUNFILES_MANIFEST_ONLY"):
        os.environ.pop(name, None)
    for name in [name for name in sys.modules if name.split(".")[0] in ("mlgo", "runfiles")]:
        del sys.modules[name]
    sys.path.insert(0, str(pathlib.Path(root.name, "_main")))
    sys.dont_write_bytecode = True
    _unpacked.append(root)
