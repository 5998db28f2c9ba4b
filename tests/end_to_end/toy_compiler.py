"""A made-up compiler for the problem in docs/add-a-problem.md, whose best policy is known. It runs in this process.

A module is a JSON object, function name -> list of [trip_count, body_size]. Each loop costs body_size cycles when it is
unrolled, else trip_count; a function costs FIXED_CYCLES more. The compiler's own heuristic unrolls bodies smaller than
SMALL_BODY.
"""

import json
import pathlib
from collections.abc import Callable, Iterable, Iterator

import numpy as np

from mlgo.compiler.request import CompileRequest, CompileResult
from mlgo.compiler.training_log import TrainingLog

FIXED_CYCLES = 20.0
SMALL_BODY = 4
LARGEST = 40

#: Decides for (trip_count, body_size).
Decide = Callable[[int, int], int]


def made_up_module(random: np.random.Generator, functions: int, loops: int) -> bytes:
    """A module with random loops."""
    return json.dumps(
        {f"f{index}": random.integers(1, LARGEST + 1, (loops, 2)).tolist() for index in range(functions)}
    ).encode()


def default(trip_count: int, body_size: int) -> int:
    """The compiler's own heuristic."""
    del trip_count
    return int(body_size < SMALL_BODY)


def best(trip_count: int, body_size: int) -> int:
    """The best policy."""
    return int(body_size < trip_count)


def cycles(loops: Iterable[tuple[int, int]], decide: Decide) -> float:
    """What a function costs."""
    return FIXED_CYCLES + sum(body if decide(trips, body) else trips for trips, body in loops)


class ToyExecutor:
    """Compiles in this process, one module after another; the policy is evaluated by TensorFlow Lite."""

    def run_ordered(self, requests: Iterable[CompileRequest]) -> Iterator[CompileResult]:
        for request in requests:
            module = json.loads(request.module.read_bitcode())
            decide = default if request.model_dir is None else _model(request.model_dir)
            yield CompileResult(request.module.name, _log(module, decide), None, 0.0)

    def close(self) -> None:
        pass


def _log(module: dict[str, list[list[int]]], decide: Decide) -> TrainingLog:
    loops = [(number, trips, body) for number, each in enumerate(module.values()) for trips, body in each]
    actions = [decide(trips, body) for _, trips, body in loops]
    outcomes, place = [], 0
    for each in module.values():
        taken = iter(actions[place : place + len(each)])
        outcomes.append(cycles(each, lambda trips, body, taken=taken: next(taken)))
        place += len(each)
    column = np.array(loops, np.int64).reshape(-1, 3)
    return TrainingLog(
        contexts=list(module),
        observation_context=column[:, 0].astype(np.int32),
        features={"trip_count": column[:, 1:2], "body_size": column[:, 2:3]},
        actions=np.array(actions, np.int64),
        outcomes=np.array(outcomes, np.float32),
        extra_outputs={},
    )


def _model(folder: pathlib.Path) -> Decide:
    import tensorflow as tf  # pylint: disable=import-outside-toplevel  # The run sets it up before it is needed here.

    interpreter = tf.lite.Interpreter(model_content=(folder / "model.tflite").read_bytes())
    interpreter.allocate_tensors()
    places = {
        entry["name"].removeprefix("action_").removesuffix(":0"): entry["index"]
        for entry in interpreter.get_input_details()
    }
    (output,) = (entry["index"] for entry in interpreter.get_output_details())

    def decide(trips: int, body: int) -> int:
        for name, value in (("trip_count", trips), ("body_size", body)):
            interpreter.set_tensor(places[name], np.array([value], np.int64))
        interpreter.invoke()
        return int(interpreter.get_tensor(output)[0])

    return decide
