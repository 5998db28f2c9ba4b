"""Compiles on the nodes of a Ray cluster. The only module that imports Ray."""

import itertools
import logging
import os
import pickle
import signal
import socket
import threading
import weakref
from collections.abc import Iterable, Iterator
from typing import Any

# Before Ray's import: it would tell its makers about every cluster.
os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")

import ray
import ray._private.worker
import ray.exceptions
from ray import cloudpickle
from ray.util.scheduling_strategies import NodeAffinitySchedulingStrategy

from mlgo.cluster import bootstrap, ordered, package, scheduling
from mlgo.cluster.blobs import DamagedBlob
from mlgo.cluster.gate import Gate
from mlgo.cluster.membership import Listed, Membership
from mlgo.cluster.node import Answer, AnswerKind
from mlgo.cluster.parcel import PIECE_BYTES, Job, Packer
from mlgo.cluster.suppliers import Suppliers
from mlgo.compiler.process import Cancelled
from mlgo.compiler.request import CompileFailure, CompileRequest, CompileResult
from mlgo.run.exit_codes import RunError
from mlgo.run.progress import tell

_DOCS = "docs/train-on-a-cluster.md says how nodes are started"

#: Disk that the cache of a node may take: a compiler has 200 MB, the bitcode of LLVM and Clang 2 GB.
_CACHE_BYTES = 20 * 1024**3
#: How often the cluster is asked for nodes that came.
_POLL_SECONDS = 2.0
#: How long a run waits for a first node, or for another when all are lost: a machine may take that long to start.
_PATIENCE_SECONDS = 120.0
#: Of Ray's own message that the user sees when it refuses us.
_MAX_SAID_CHARACTERS = 400
#: How long a head may take to answer at all.
_ANSWER_SECONDS = 10.0
#: How long a node may take to say that it gave up a compile: it kills processes meanwhile.
_SILENCE_SECONDS = 5.0
#: Calls beside compiles that a node answers at once: sending files, ending a run.
_CONTROL_THREADS = 4
#: Files from this size on go from node to node: compilers and large policies. Smaller ones cost the driver little.
_SHARED_BYTES = 1 << 20


class RayExecutor:
    """Compiles on every node of a Ray cluster that offers CPUs; nodes may come and go.

    Args:
      address: HOST:PORT of the cluster's head; None: the cluster that this machine is a node of.
      workers: compiles at a time on each node; None: as many as it offers CPUs.

    Raises: RunError: there is no cluster at `address`, or it runs another Ray or Python.
    """

    def __init__(self, address: str | None = None, workers: int | None = None):
        _connect(address or "auto")
        cloudpickle.register_pickle_by_value(bootstrap)
        code, self._digest = package.pack_code()
        self._code = ray.put(code)
        self._workers = workers
        self._packer = Packer()
        self._suppliers = Suppliers()
        self._pool = scheduling.NodePool(_PATIENCE_SECONDS, tell)
        self._runs = itertools.count()
        self._under_way: weakref.WeakSet[scheduling.Run] = weakref.WeakSet()
        self._gate = Gate()
        self._membership = Membership(_listed_nodes, self._connect_to, self._pool, self._gate, tell)
        self._membership.look()
        self._watch = threading.Thread(target=self._keep_looking, name="cluster nodes", daemon=True)
        self._watch.start()

    def run_ordered(self, requests: Iterable[CompileRequest]) -> Iterator[CompileResult | CompileFailure]:
        """See `mlgo.compiler.executor.Executor`."""
        run = scheduling.Run(str(next(self._runs)))
        self._under_way.add(run)
        return ordered.run_ordered(requests, run, self._pool)

    def close(self) -> None:
        """Ends our processes on the nodes and leaves the cluster."""
        if not self._gate.is_closing():
            self._gate.close_for_new()
            for run in list(self._under_way):
                self._pool.cancel(run)
            self._gate.wait_until_empty()
            self._watch.join()
            ray.shutdown()
            tell(f"cluster: {scheduling.compiles_by_node(self._pool.compiled)}")
            if backups := self._pool.backups:
                tell(f"cluster: {backups:,} of the compiles took long, and another node that was idle repeated them")
            if (sent := self._suppliers.sent).by_nodes:
                by_driver, by_nodes = sent.by_driver >> 20, sent.by_nodes >> 20
                tell(f"cluster: the driver sent {by_driver} MB of files, nodes sent each other {by_nodes} MB")

    def _keep_looking(self) -> None:
        while not self._gate.is_closing(_POLL_SECONDS):
            try:
                with self._gate:
                    self._membership.look()
            except Cancelled:
                return

    def _connect_to(self, node: Listed) -> "_RayNode":
        slots = min(self._workers or node.cpus, node.cpus)
        return _RayNode(node.id, node.name, slots, self._packer, self._suppliers, self._code, self._digest, self._gate)


def _listed_nodes() -> Iterator[Listed]:
    """The nodes of the cluster that live and offer CPUs."""
    for described in ray.nodes():
        name, cpus = described["NodeID"], int(described["Resources"].get("CPU", 0))
        if described["Alive"] and cpus:
            yield Listed(name, f"{described['NodeManagerAddress']} ({name[:8]})", cpus)


class _RayNode:
    """One node, behind the actor that compiles there."""

    def __init__(
        self,
        node_id: str,
        name: str,
        slots: int,
        packer: Packer,
        suppliers: Suppliers,
        code: ray.ObjectRef,
        digest: str,
        gate: Gate,
    ):
        self.name, self.slots = name, slots
        self._packer, self._suppliers, self._gate = packer, suppliers, gate
        self._sending = threading.Lock()
        actor = ray.remote(
            num_cpus=slots,
            max_restarts=0,
            concurrency_groups={"compiles": slots, "control": _CONTROL_THREADS},
            # Only on this node; when the node is lost, fail instead of waiting.
            scheduling_strategy=NodeAffinitySchedulingStrategy(node_id, soft=False),
        )(bootstrap.NodeActor)
        self._actor = actor.remote(code, digest, _CACHE_BYTES)
        self._compile_there = self._actor.compile.options(concurrency_group="compiles")

    def wait_until_ready(self) -> str | None:
        """Returns what does not confine compiles there (`mlgo.compiler.walls.gaps`).

        Raises: RayError: it never will be ready; Cancelled: the executor is closed first.
        """
        gaps = self._control("gaps")
        while not ray.wait([gaps], timeout=_POLL_SECONDS)[0]:
            if self._gate.is_closing():
                raise Cancelled()
        return ray.get(gaps)

    def compile(self, run: scheduling.Run, request: CompileRequest) -> CompileResult | CompileFailure:
        """See `scheduling.Node`."""
        with self._gate:
            return self._compile(run, request)

    def _compile(self, run: scheduling.Run, request: CompileRequest) -> CompileResult | CompileFailure:
        job = self._packer.pack(request)
        parcel = pickle.dumps(job.parcel, protocol=5)
        try:
            while True:
                if run.cancelled:
                    raise Cancelled()
                call = self._compile_there.remote(run.name, parcel)
                answer = Answer.from_bytes(_answer(run, call))
                match answer.kind:
                    case AnswerKind.OUTCOME:
                        return answer.content
                    case AnswerKind.CANCELLED:
                        raise Cancelled()
                    case AnswerKind.UNUSABLE:
                        raise scheduling.NodeLost(answer.content)
                    case AnswerKind.MISSING:
                        self._send(run, job, answer.content)
        except DamagedBlob as error:
            raise RunError(
                f"compiler, policy or corpus ({request.module.name})",
                f"changed while the run read it: {error}",
                "Leave them alone while a run lasts, and start it again",
            ) from error
        except ray.exceptions.RayTaskError:
            raise  # A defect of ours.
        except ray.exceptions.RayError as error:
            raise scheduling.NodeLost(_in_short(error)) from error

    def give_up(self) -> None:
        """Ends what may be left of it, which would keep CPUs from its successor."""
        ray.kill(self._actor)

    def end(self, run: scheduling.Run) -> None:
        """See `scheduling.Node`."""
        # Also while the gate closes: those inside are waited for, and this is what lets them go.
        if ray.is_initialized():
            self._control("end", run.name)

    def _send(self, run: scheduling.Run, job: Job, digests: list[str]) -> None:
        """Sends files, unless another compile has sent them meanwhile."""
        with self._sending:
            for digest in self._missing(run, digests):
                if job.size(digest) < _SHARED_BYTES:
                    self._send_from_driver(run, job, digest)
                else:
                    self._send_from_supplier(run, job, digest)

    def _send_from_supplier(self, run: scheduling.Run, job: Job, digest: str) -> None:
        """Has a node that has the file send it, or the driver if none can. This node then sends it on."""
        with self._suppliers.sender(digest, lambda: run.cancelled or self._gate.is_closing()) as sender:
            if not self._missing(run, [digest]):
                pass  # It came while this waited for a sender, to a folder that nodes share.
            elif sender is None or not self._send_from(run, sender, digest, job.size(digest)):
                self._send_from_driver(run, job, digest)
                # Only now: what failed may have been this node, which the driver then could not reach either.
                self._suppliers.drop(sender)
            self._suppliers.add(digest, self)

    def _send_from(self, run: scheduling.Run, sender: "_RayNode", digest: str, size: int) -> bool:
        """Sends a file from another node; the driver sees references alone. Returns whether it arrived."""
        try:
            for offset in range(0, size, PIECE_BYTES):
                piece = sender._control("read", digest, offset, PIECE_BYTES)  # pylint: disable=protected-access
                self._append(run, digest, offset, piece, offset + PIECE_BYTES >= size)
        except ray.exceptions.RayError:
            return False
        self._suppliers.count(sender, size)
        return True

    def _send_from_driver(self, run: scheduling.Run, job: Job, digest: str) -> None:
        offset, pieces = 0, job.pieces(digest)
        piece: bytes | None = next(pieces)
        while piece is not None:
            following = next(pieces, None)
            self._append(run, digest, offset, piece, following is None)
            offset, piece = offset + len(piece), following
        self._suppliers.count(None, offset)

    def _missing(self, run: scheduling.Run, digests: list[str]) -> list[str]:
        return _answer(run, self._control("missing", digests))

    def _append(
        self, run: scheduling.Run, digest: str, offset: int, piece: bytes | ray.ObjectRef, is_last: bool
    ) -> None:
        # One at a time: that is what keeps memory small, here and in the object stores.
        if (problem := _answer(run, self._control("append", digest, offset, piece, is_last))) is not None:
            raise scheduling.NodeLost(problem)

    def _control(self, method: str, *arguments) -> ray.ObjectRef:
        """Calls a method that the node answers beside its compiles."""
        return getattr(self._actor, method).options(concurrency_group="control").remote(*arguments)


def _answer(run: scheduling.Run, reference: ray.ObjectRef) -> Any:
    """What a node answers. A node that is out of reach does not, and Ray says so after a minute.

    Raises: RayError: the call fails; NodeLost: the run ended, and the node does not answer that it gave up.
    """
    was_cancelled = False
    while True:
        try:
            return ray.get(reference, timeout=_SILENCE_SECONDS)
        except ray.exceptions.GetTimeoutError:
            if was_cancelled:
                raise scheduling.NodeLost("it does not answer") from None
            was_cancelled = run.cancelled


def _connect(address: str) -> None:
    """Joins the cluster as its driver, quietly, leaving this process's signal handling alone."""
    if address != "auto":
        _probe(address)
    # When a node dies, Ray 2.60 prints pages of its logs on our stdout, and no setting stops it. We print one line.
    ray._private.worker.print_to_stdstream = lambda *arguments, **options: None  # pylint: disable=protected-access
    handlers = {number: signal.getsignal(number) for number in (signal.SIGTERM, signal.SIGINT)}
    try:
        ray.init(
            address=address,
            namespace="mlgo",
            log_to_driver=False,
            logging_level=logging.CRITICAL,
            configure_logging=True,
        )
    except (ConnectionError, RuntimeError, ValueError, ray.exceptions.RayError) as error:
        said = " ".join(str(error).split()).rstrip(".")
        raise RunError(f"--ray_address={address}", said[:_MAX_SAID_CHARACTERS], _remedy(said)) from error
    finally:
        if threading.current_thread() is threading.main_thread():
            for number, handler in handlers.items():
                signal.signal(number, handler)


def _probe(address: str) -> None:
    """Raises: RunError: no server answers at `address`. Ray itself notices after minutes."""
    read = f"--ray_address={address}"
    host, _, port = address.rpartition(":")
    if not host or not port.isdecimal():
        raise RunError(read, "is not HOST:PORT", _remedy(""))
    try:
        socket.create_connection((host.strip("[]"), int(port)), timeout=_ANSWER_SECONDS).close()
    except (OSError, OverflowError) as error:
        raise RunError(read, f"does not answer ({error})", _remedy("")) from error


def _remedy(said: str) -> str:
    if "ersion mismatch" in said:
        return "Start every node with the Ray and Python of this command: ./bazelw run //mlgo/cluster:ray"
    return f"Give HOST:PORT of a head node; this machine must be a node too. {_DOCS}"


def _in_short(error: ray.exceptions.RayError) -> str:
    """The essence of a long message of Ray."""
    if isinstance(error, ray.exceptions.OutOfMemoryError):
        return "its memory was used up"
    if isinstance(error, ray.exceptions.ActorUnavailableError):
        return "it does not answer"
    if isinstance(error, ray.exceptions.RayActorError):
        return "it went down"
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    return lines[0].rstrip(".") if lines else type(error).__name__
