"""What the walls around compiles cost: CPU time of compiles with and without them, and of the copies of their inputs.

The smallest modules of the held-out corpus are compiled one by one, in turns with and without walls. CPU time includes
the kernel's work for the walls, and differs less between runs than wall time. The least of several rounds counts.
"""

import contextlib
import time
from collections.abc import Mapping, Sequence

from mlgo.compiler.compile import Runner, compile_module, compiler_environment
from mlgo.compiler.inputs import place_inputs
from mlgo.compiler.process import Cancellation, Confinement, LimitedProcess, ProcessOutcome, wait_for_end
from mlgo.compiler.request import CompileFailure, CompileLimits, CompileRequest
from mlgo.compiler.scratch import scratch_directory
from mlgo.compiler.server import CompileServer
from mlgo.corpus.corpus import Corpus
from mlgo.problems.problem import load_problem
from mlgo.run import locate
from tests.benchmarks.row import Row, at_most

_MODULES, _ROUNDS = 6, 20
#: Target: 1 % of compile time.
_MAX_RATIO, _MAX_SHARE = 1.01, 0.01


def measure() -> list[Row]:
    """The rows of this benchmark; takes about two minutes on two cores."""
    corpus = Corpus.load(locate.runfile("mlgo/corpus/llvm_small_held_out"))
    problem = load_problem("inlining_for_size")
    model = locate.runfile("tests/policies/random_inlining_tflite/model.tflite").parent
    clang = locate.runfile("development/clang")
    modules = sorted(corpus.modules, key=lambda module: (module.bitcode_size, module.name))[:_MODULES]
    requests = [CompileRequest(clang, module, problem, model, want_object=True) for module in modules]
    by_process = _compared(requests, {walls: _process(walls) for walls in (Confinement.NONE, Confinement.ALL)})
    with contextlib.ExitStack() as stack:
        program = locate.runfile("development/compile_server")
        servers = {walls: CompileServer(program, walls) for walls in (Confinement.NONE, Confinement.ALL)}
        for server in servers.values():
            stack.callback(server.close)
        by_server = _compared(requests, servers)
    copying = sum(min(_copying(request) for _ in range(_ROUNDS)) for request in requests)
    name = f"walls, the {_MODULES} smallest modules"
    return [
        at_most(f"{name}: processes, with against without", _ratio(by_process), "x", _MAX_RATIO),
        at_most(f"{name}: compile server, with against without", _ratio(by_server), "x", _MAX_RATIO),
        at_most(
            f"{name}: copies of inputs, share of a compile", copying / by_server[Confinement.NONE], "x", _MAX_SHARE
        ),
    ]


def _ratio(seconds: dict[Confinement, float]) -> float:
    return seconds[Confinement.ALL] / seconds[Confinement.NONE]


def _compared(requests: Sequence[CompileRequest], runners: Mapping[Confinement, Runner]) -> dict[Confinement, float]:
    """CPU seconds of all requests with each runner."""
    total = dict.fromkeys(runners, 0.0)
    for request in requests:
        seconds: dict[Confinement, list[float]] = {walls: [] for walls in runners}
        for index in range(_ROUNDS):
            for walls in sorted(runners, reverse=index % 2 == 0):
                seconds[walls].append(_compiling(request, runners[walls]))
        for walls, measured in seconds.items():
            total[walls] += min(measured)
    return total


def _compiling(request: CompileRequest, run: Runner) -> float:
    outcome = compile_module(request, None, run)
    if isinstance(outcome, CompileFailure):
        raise RuntimeError(f"{outcome.module_name}: {outcome.kind.value}: {outcome.detail}")
    return outcome.cpu_seconds


def _copying(request: CompileRequest) -> float:
    with scratch_directory() as directory:
        start = time.thread_time()
        place_inputs(request, directory)
        return time.thread_time() - start


def _process(walls: Confinement) -> Runner:
    """As `run_process` in mlgo/compiler/compile.py, with these walls."""

    def run(
        command_line: Sequence[str], directory: str, limits: CompileLimits, cancellation: Cancellation | None
    ) -> ProcessOutcome:
        environment = {**compiler_environment(), "TMPDIR": directory}
        numbers = (limits.cpu_seconds, limits.address_space_bytes, limits.log_bytes)
        with LimitedProcess(command_line, directory, environment, *numbers, walls) as process:
            return wait_for_end(process, limits.wall_seconds, cancellation)

    return run
