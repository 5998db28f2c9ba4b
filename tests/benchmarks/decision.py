"""CPU time of one decision by generated C++, TensorFlow Lite and TensorFlow's AOT compiler, on observations of real
compiles.

The observations are what the compiler's default heuristic meets in the held-out half of the built-in corpus: eviction
with the shipped policy, inlining with random weights of the same network (its cost depends on sizes, not on what was
learned).
"""

import pathlib
import subprocess
import tempfile
from collections.abc import Sequence

import numpy as np

from mlgo.compiler.compile import compile_module
from mlgo.compiler.request import CompileFailure, CompileRequest
from mlgo.corpus.corpus import Corpus, Module
from mlgo.problems.problem import Problem, load_problem
from mlgo.run import locate
from tests.benchmarks.row import Row, at_most

#: Enough for a mean that does not move, few enough to stay in the second-level cache with the weights.
OBSERVATIONS = 2000
#: Issue 3, "Numbers": problem -> microseconds of one decision by C++.
MOST_MICROSECONDS = {
    "regalloc_eviction": 3.0,
    "inlining_for_size": 1.0,
    # Issue 20: beyond what LLVM takes for the embeddings (embeddings.py).
    "inlining_for_size+ir2vec": 5.0,
}
#: Problem -> the program that evaluates its policy in all forms, and the policy's TensorFlow Lite form (BUILD.bazel).
_PROGRAMS = {
    "regalloc_eviction": ("eviction_decision", "tests/policies/shipped_eviction_tflite/model.tflite"),
    "inlining_for_size": ("inlining_decision", "tests/policies/random_inlining_tflite/model.tflite"),
    "inlining_for_size+ir2vec": (
        "inlining_embeddings_decision",
        "tests/policies/embeddings_inlining_tflite/model.tflite",
    ),
}


def measure() -> list[Row]:
    rows = []
    modules = Corpus.load(locate.runfile("mlgo/corpus/llvm_small_held_out")).modules
    for name, most in MOST_MICROSECONDS.items():
        problem = load_problem(name)
        observations = real_observations(problem, modules, OBSERVATIONS)
        microseconds = forms(name, problem, observations)
        cpp = microseconds["C++"]
        rows.append(at_most(f"one decision of {name}: C++", cpp, "us", most))
        for form in ("TFLite", "AOT"):
            rows.append(Row(f"one decision of {name}: {form}", microseconds[form], "us"))
            rows.append(Row(f"one decision of {name}: {form} against C++", microseconds[form] / cpp, "x"))
        if problem.mask_feature is not None:
            legal = (observations[problem.mask_feature] > 0).sum() / OBSERVATIONS
            rows.append(Row(f"one decision of {name}: legal positions", float(legal), "of 33"))
    return rows


def real_observations(problem: Problem, modules: Sequence[Module], count: int) -> dict[str, np.ndarray]:
    """Feature -> [count, *shape], spread over the modules that are compiled until there are enough.

    Raises: RuntimeError: a compile fails, or all modules together have fewer observations.
    """
    clang = locate.runfile("development/clang").resolve()
    parts: list[dict[str, np.ndarray]] = []
    found = 0
    for module in sorted(modules, key=lambda module: module.bitcode_size):
        result = compile_module(CompileRequest(clang, module, problem, want_log=True))
        if isinstance(result, CompileFailure):
            raise RuntimeError(f"{module.name}: {result.kind.value}: {result.detail}")
        assert result.log is not None  # It was asked for.
        parts.append(result.log.features)
        found += result.log.observation_count
        if found >= 2 * count:
            break
    if found < count:
        raise RuntimeError(f"{len(modules)} modules have {found} observations, {count} are needed")
    chosen = np.linspace(0, found - 1, count).astype(int)
    return {
        spec.name: np.concatenate([part[spec.name] for part in parts])[chosen] for spec in problem.observation_specs
    }


def forms(name: str, problem: Problem, observations: dict[str, np.ndarray]) -> dict[str, float]:
    """Form of the policy -> microseconds of a decision."""
    program, model = _PROGRAMS[name]
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder, "observations")
        path.write_bytes(encoded(problem, observations))
        said = subprocess.run(
            [locate.runfile(f"tests/benchmarks/{program}"), locate.runfile(model), path],
            check=True,
            capture_output=True,
            text=True,
        ).stdout
    return {form: float(value) for form, value in map(str.split, said.splitlines())}


def encoded(problem: Problem, observations: dict[str, np.ndarray]) -> bytes:
    """The file that decision.cc reads."""
    head = "".join(f"{spec.name} {spec.byte_count}\n" for spec in problem.observation_specs) + "\n"
    columns = []
    for spec in problem.observation_specs:
        values = np.ascontiguousarray(observations[spec.name])
        columns.append(values.reshape(len(values), -1).view(np.uint8))
    return head.encode("ascii") + np.concatenate(columns, axis=1).tobytes()
