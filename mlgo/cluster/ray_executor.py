"""Compiles on the nodes of a Ray cluster. The only module that calls Ray from the driver.

A compile is a task of Ray: Ray chooses its node, repeats it when the node is lost, and brings it the files that it
needs, which are objects in Ray's store. Results never depend on any of it: outcomes are functions of their requests and
are handed back in the requests' order.
"""

import collections
import itertools
import logging
import os
import pickle
import signal
import socket
import threading
import time
from collections.abc import Iterable

# Before Ray's import: it would tell its makers about every cluster.
os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")

import numpy as np
import ray
import ray._private.worker
import ray.exceptions
from ray import cloudpickle

from mlgo.cluster import bootstrap, node
from mlgo.cluster.nodes import Nodes
from mlgo.cluster.parcel import Job, Packer, pack_code
from mlgo.compiler.executor import Outcomes
from mlgo.compiler.process import Cancelled
from mlgo.compiler.request import CompileFailure, CompileRequest, CompileResult
from mlgo.run.exit_codes import RunError
from mlgo.run.progress import tell

_DOCS = "docs/train-on-a-cluster.md says how nodes are started"
# As for local compiles (mlgo/compiler/executor.py): a slow module must not stop the others.
_LOOKAHEAD = 64
_LOOKAHEAD_PER_CPU = 4
#: A compile that was under way on one more lost node stops the run: it may be what loses them.
_MAX_REPEATS = 3
#: Contents kept in Ray's store for nodes that lack them; those used least recently go first, and are sent again.
_KEPT_BYTES = 2 * 1024**3
#: How often the cluster is asked for its nodes.
_POLL_SECONDS = 2.0
#: How long nodes may take to end compiles that were given up.
_END_SECONDS = 5.0
#: Of Ray's own message that the user sees when it refuses us.
_MAX_SAID_CHARACTERS = 400
#: How long a head may take to answer at all.
_ANSWER_SECONDS = 10.0


class RayExecutor:
    """Compiles on every node of a Ray cluster that offers CPUs; nodes may come and go. For one thread.

    Args: address: HOST:PORT of the head; None: the cluster of this machine; workers: see Nodes.cpus_per_compile.
    Raises: RunError: there is no cluster at `address`, or it runs another Ray or Python.
    """

    def __init__(self, address: str | None = None, workers: int | None = None):
        _connect(address or "auto")
        cloudpickle.register_pickle_by_value(bootstrap)
        code, self._digest = pack_code()
        self._code = ray.put(code)
        self._workers = workers
        self._packer = Packer()
        self._store: collections.OrderedDict[str, tuple[int, list[ray.ObjectRef]]] = collections.OrderedDict()
        self._task = ray.remote(
            max_retries=_MAX_REPEATS, retry_exceptions=[bootstrap.UnusableNode], scheduling_strategy="SPREAD"
        )(bootstrap.compile_on_node)
        self._nodes = Nodes(tell, time.monotonic)
        self._looked = 0.0
        self._under_way: set[ray.ObjectRef] = set()
        self._is_closed = False
        self._look()

    def run_ordered(self, requests: Iterable[CompileRequest]) -> Outcomes:
        """See `mlgo.compiler.executor.Executor`."""
        remaining = iter(requests)
        pending: collections.deque[tuple[CompileRequest, ray.ObjectRef]] = collections.deque()

        def fill() -> None:
            self._look()
            lookahead = max(_LOOKAHEAD, _LOOKAHEAD_PER_CPU * self._nodes.cpus)
            for request in itertools.islice(remaining, max(0, lookahead - len(pending))):
                pending.append((request, self._submit(request)))

        try:
            fill()
            while pending:
                outcome = self._outcome(*pending[0])
                self._under_way.discard(pending.popleft()[1])
                fill()
                yield outcome
        finally:
            self._cancel([reference for _, reference in pending])

    def close(self) -> None:
        """Ends our compiles on the nodes and leaves the cluster."""
        if not self._is_closed:
            self._cancel(list(self._under_way))
            self._is_closed = True
            ray.shutdown()
            tell(f"cluster: {self._nodes.describe()}")

    def _look(self) -> None:
        """Asks for the nodes, unless that was a moment ago. Raises: Cancelled: closed; RunError: as Nodes.look."""
        if self._is_closed:
            raise Cancelled()
        if time.monotonic() - self._looked >= _POLL_SECONDS:
            self._nodes.look(ray.nodes())
            self._looked = time.monotonic()

    def _submit(self, request: CompileRequest) -> ray.ObjectRef:
        job = self._packer.pack(request)
        sources = {digest: self._stored(job, digest) for digest in job.parcel.all_digests()}
        parcel = pickle.dumps(job.parcel, protocol=5)
        task = self._task.options(num_cpus=self._nodes.cpus_per_compile(self._workers))
        reference = task.remote([self._code], self._digest, parcel, sources)
        self._under_way.add(reference)
        return reference

    def _stored(self, job: Job, digest: str) -> list[ray.ObjectRef]:
        """References to the pieces of a content in Ray's store, from which nodes fetch them, also from each other."""
        if digest not in self._store:
            # As arrays, which nodes read where the store has them.
            pieces = [np.frombuffer(piece, np.uint8) for piece in job.pieces(digest)]
            self._store[digest] = sum(map(len, pieces)), [ray.put(piece) for piece in pieces]
            kept = sum(size for size, _ in self._store.values())
            while kept > _KEPT_BYTES and len(self._store) > 1:
                kept -= self._store.popitem(last=False)[1][0]
        self._store.move_to_end(digest)
        return self._store[digest][1]

    def _outcome(self, request: CompileRequest, reference: ray.ObjectRef) -> CompileResult | CompileFailure:
        """What comes of a compile. Raises: RunError: there are no nodes, or none of several could do it."""
        self._look()
        while not ray.wait([reference], timeout=_POLL_SECONDS)[0]:
            self._look()
        try:
            name, missing, message = ray.get(reference)
        except bootstrap.ChangedFile as error:
            wrong = f"changed while the run read it: {_last_line(error)}"
            remedy = "Leave them alone while a run lasts, and start it again"
            raise RunError(f"compiler, policy or corpus ({request.module.name})", wrong, remedy) from error
        except bootstrap.UnusableNode as error:
            raise _not_compiled(request, f"was refused by nodes {_MAX_REPEATS + 1} times", error) from error
        except ray.exceptions.RayTaskError:
            raise  # A defect of ours.
        except ray.exceptions.RayError as error:
            raise _not_compiled(request, f"lost {_MAX_REPEATS + 1} nodes or processes on them", error) from error
        self._nodes.count(name, missing)
        return node.outcome_of(message)

    def _cancel(self, references: list[ray.ObjectRef]) -> None:
        """Ends compiles; a compiler dies with the process of the node that started it."""
        self._under_way.difference_update(references)
        if not references or self._is_closed:
            return
        for reference in references:
            ray.cancel(reference, force=True)
        _, left = ray.wait(references, num_returns=len(references), timeout=_END_SECONDS, fetch_local=False)
        if left:
            tell(f"cluster: {len(left)} compiles were given up, but their nodes do not answer")


def _not_compiled(request: CompileRequest, what: str, error: Exception) -> RunError:
    """No failure of the module, which would change results: the machines may be what is wrong."""
    remedy = "Look for what ends compiles there, such as too little memory; run the same command again"
    return RunError(f"compile of {request.module.name}", f"{what} ({_last_line(error)})", remedy)


def _last_line(error: BaseException) -> str:
    """What an exception says, in a line. Ray hands over whole tracebacks, whose last line is the exception."""
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    return lines[-1].rstrip(".") if lines else type(error).__name__


def _connect(address: str) -> None:
    """Joins the cluster as its driver, quietly, leaving this process's signal handling alone."""
    if address != "auto":
        _probe(address)
    # When a node dies, Ray 2.60 prints pages of its logs on our stdout, and no setting stops it. We print one line.
    ray._private.worker.print_to_stdstream = lambda *arguments, **options: None  # pylint: disable=protected-access
    handlers = {number: signal.getsignal(number) for number in (signal.SIGTERM, signal.SIGINT)}
    try:
        quiet = {"log_to_driver": False, "logging_level": logging.CRITICAL, "configure_logging": True}
        ray.init(address=address, namespace="mlgo", **quiet)
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
