"""A made-up compiler for the problem in docs/add-a-problem.md, whose best policy is known.

A module is a JSON object, function name -> list of loops [latency, trip_count]. A function's throughput is FIXED plus,
for each loop, trip_count / (1 + (distance - latency / 10)^2). The compiler's own heuristic always takes the distance 1.

The program `clang` is a client of `ToyCompiler`, which compiles in the process of the test: a process of its own would
spend seconds per module on loading TensorFlow Lite. Compilers in processes have no network, so commands find a compile
server beside it, which is not confined. Only the first module of a run, one of textual IR, is compiled by a process.
"""

import functools
import json
import pathlib
import socketserver
import sys
import threading
from collections.abc import Callable, Iterable

import numpy as np

from mlgo.compiler.testing import fake_server, log_writer
from mlgo.problems.problem import Problem

FIXED = 20.0
LARGEST_LATENCY = 40

#: Distance for (latency, trip_count).
Decide = Callable[[int, int], float]
Loops = Iterable[tuple[int, int]]

_CLIENT = """\
import json, os, shutil, socket, sys
if not open(sys.argv[-1], "rb").read(1) == b"{{":
    (log,) = [word.partition("=")[2] for word in sys.argv if word.startswith("-{log_flag}=")]
    shutil.copyfile({log!r}, log)
    open(sys.argv[sys.argv.index("-o") + 1], "wb").write(b"object")
    sys.exit()
with socket.create_connection(("127.0.0.1", {port})) as server:
    stream = server.makefile("rwb")
    stream.write(json.dumps([os.getcwd(), *sys.argv[1:]]).encode() + b"\\n")
    stream.flush()
    error = json.loads(stream.readline())
sys.exit(error)
"""


def made_up_module(random: np.random.Generator, functions: int, loops: int) -> bytes:
    """A module with random loops."""
    made = {f"f{n}": random.integers(1, LARGEST_LATENCY + 1, (loops, 2)).tolist() for n in range(functions)}
    return json.dumps(made).encode()


def default(latency: int, trip_count: int) -> float:
    """The compiler's own heuristic."""
    del latency, trip_count
    return 1.0


def best(latency: int, trip_count: int) -> float:
    """The best policy."""
    del trip_count
    return latency / 10.0


def throughput(loops: Loops, decide: Decide) -> float:
    """The score of a function."""
    return FIXED + sum(trips / (1.0 + (decide(latency, trips) - best(latency, trips)) ** 2) for latency, trips in loops)


class ToyCompiler:
    """The compiler of `problem`; `clang` in `folder` runs it for as long as the `with` block lasts."""

    def __init__(self, folder: pathlib.Path, problem: Problem):
        self._problem = problem
        compiler = self

        class Handler(socketserver.StreamRequestHandler):
            def handle(self):
                try:
                    answer = compiler.compile(*json.loads(self.rfile.readline()))
                except Exception as error:  # The compiler of this process must survive, and the run must learn of it.
                    answer = f"toy compiler: {error!r}"
                self.wfile.write(json.dumps(answer).encode() + b"\n")

        self._server = socketserver.ThreadingTCPServer(("127.0.0.1", 0), Handler)
        self._server.daemon_threads = True
        client = folder / "client.py"
        log = folder / "textual_ir.log"
        log.write_bytes(log_writer.write_log(problem, [("preflight", [])]))
        port = self._server.server_address[1]
        client.write_text(_CLIENT.format(port=port, log_flag=problem.log_flag, log=str(log)), encoding="utf-8")
        self.clang = folder / "clang"
        self.clang.write_text(f"#!/bin/sh\nexec '{sys.executable}' -I -S '{client}' \"$@\"\n", encoding="utf-8")
        self.clang.chmod(0o755)
        fake_server.install(folder)

    def __enter__(self) -> "ToyCompiler":
        threading.Thread(target=self._server.serve_forever, daemon=True).start()
        return self

    def __exit__(self, *_) -> None:
        self._server.shutdown()
        self._server.server_close()

    def compile(self, folder: str, *arguments: str) -> str | None:
        """Does what `clang ARGUMENTS...` asks for in `folder`; returns an error message or None."""
        options = {option: value for option, value in zip(arguments, arguments[1:]) if option in ("-o", "-x")}
        llvm = [value for option, value in zip(arguments, arguments[1:]) if option == "-mllvm"]
        flags = dict(value.lstrip("-").split("=", 1) for value in llvm)
        problem = self._problem
        if unknown := set(flags) - {problem.advisor_flag, problem.log_flag, problem.model_flag}:
            return f"clang (LLVM option parsing): Unknown command line argument '-{sorted(unknown)[0]}'."
        module = json.loads(pathlib.Path(folder, arguments[-1]).read_bytes())
        decide: Decide = default
        if problem.model_flag in flags:
            decide = _model(pathlib.Path(folder, flags[problem.model_flag], "model.tflite").read_bytes())
        contexts = [(name, _observations(loops, decide)) for name, loops in module.items()]
        pathlib.Path(folder, flags[problem.log_flag]).write_bytes(log_writer.write_log(problem, contexts))
        pathlib.Path(folder, options["-o"]).write_bytes(b"object")
        return None


def _observations(loops: Loops, decide: Decide) -> list[log_writer.Observation]:
    distances = [np.float32(decide(*loop)) for loop in loops]
    taken = iter(distances)
    score = throughput(loops, lambda latency, trips: float(next(taken)))
    return [
        log_writer.Observation(
            (np.array([latency]), np.array([trips]), np.array([distance])),
            score if place == len(distances) - 1 else 0.0,
        )
        for place, ((latency, trips), distance) in enumerate(zip(loops, distances, strict=True))
    ]


@functools.lru_cache(maxsize=4)
def _model(content: bytes) -> Decide:
    import tensorflow as tf  # pylint: disable=import-outside-toplevel  # Takes seconds.

    lock, interpreter = threading.Lock(), tf.lite.Interpreter(model_content=content)
    interpreter.allocate_tensors()
    inputs = {
        each["name"].removeprefix("action_").removesuffix(":0"): each["index"]
        for each in interpreter.get_input_details()
    }
    (output,) = (each["index"] for each in interpreter.get_output_details())

    def decide(latency: int, trip_count: int) -> float:
        with lock:
            for name, value in (("latency", latency), ("trip_count", trip_count)):
                interpreter.set_tensor(inputs[name], np.array([value], np.int64))
            interpreter.invoke()
            return float(interpreter.get_tensor(output)[0])

    return decide
