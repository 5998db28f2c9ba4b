"""One side of an evaluation: a corpus compiled under a policy, or under the default with other flags.

Files in the side's folder, for each module NAME: `modules/NAME.json` (mlgo/trace/outcomes.py), `code/NAME.json` (bytes
of each function) and, if objects are linked, `objects/NAME.o`.
"""

import dataclasses
import pathlib
import tempfile
from collections.abc import Collection, Mapping, Sequence
from typing import Any

from mlgo.compiler.executor import LocalExecutor
from mlgo.compiler.request import CompileFailure, CompileResult
from mlgo.corpus.corpus import Corpus, Module
from mlgo.evaluation.callee_saved_costs import costs_from_flags, side_and_cost, with_costs
from mlgo.evaluation.corpora import linked_code
from mlgo.evaluation.corpora.inline_thresholds import threshold_flags, threshold_of
from mlgo.evaluation.other_compilers import other_compilers
from mlgo.problems.problem import Problem
from mlgo.run import files
from mlgo.run.exit_codes import RunError
from mlgo.run.json_fields import Fields
from mlgo.score.problem_score import score_of
from mlgo.trace.outcomes import ModuleRecord
from mlgo.trace.setup import CompileSetup
from mlgo.trace.trace import DecisionsGiven, compile_corpus

#: The side that the others are compared with.
DEFAULT = "default"


@dataclasses.dataclass(frozen=True)
class Side:
    """The policy or heuristic under comparison.

    Attributes:
      name: name in tables and of its folder.
      digest: digest of the policy, or of another compiler; "" for the compiler's heuristic.
      policy: name of the policy that decides; "" for the compiler's heuristic.
      flags: further cc1 flags.
      clang: another compiler, which compiles on this machine; None: the evaluation's.
    """

    name: str
    digest: str = ""
    policy: str = ""
    flags: tuple[str, ...] = ()
    clang: pathlib.Path | None = None


def threshold_sides(values: Sequence[str], problem: Problem) -> list[Side]:
    """The default at each value of the problem's threshold option.

    Raises: RunError: a value is not a whole number, or the problem has no such option.
    """
    if values and problem.threshold_option is None:
        raise RunError("--inline_thresholds", f"is not supported for {problem.name}", "Remove it")
    return [Side(name, flags=flags) for name, flags in threshold_flags(values, problem.threshold_option).items()]


def cost_sides(values: Sequence[str], problem: Problem, policies: Sequence[Side]) -> list[Side]:
    """The default and `policies` with each cost of the first use of a callee-saved register.

    Raises: RunError: a value is no cost, or no register allocator decides the problem.
    """
    if values and not problem.decides_after_optimiser:
        raise RunError("--callee_saved_costs", f"is not supported for {problem.name}", "Remove it")
    return with_costs((Side(DEFAULT), *policies), costs_from_flags(values))


def compiler_sides(values: Sequence[str], problem: Problem, taken: Collection[str]) -> list[Side]:
    """The sides that --compiler names. Args: taken: names of policies.

    Raises: RunError: see other_compilers; or the scores of the problem are in logs, which other compilers do not write.
    """
    if values and score_of(problem).needs_log:
        wrong = f"is not supported for {problem.name}, whose scores only development compilers log"
        raise RunError("--compiler", wrong, "Compare programs: ./bazelw run //mlgo:evaluate_programs -- --compiler=...")

    def is_taken(name: str) -> bool:
        return name in (DEFAULT, *taken) or threshold_of(name) is not None or side_and_cost(name) is not None

    return [
        Side(other.name, other.identity(), flags=other.flags, clang=other.clang)
        for other in other_compilers(values, is_taken)
    ]


def compile_side(
    folder: pathlib.Path,
    corpus: Corpus,
    setup: CompileSetup,
    side: Side,
    model_dir: pathlib.Path | None,
    title: str,
    keep_objects: bool,
    given: DecisionsGiven = lambda module: None,
) -> Mapping[str, Any]:
    """Compiles every module of `corpus` that has no record in `folder` yet.

    Args:
      model_dir: TFLite policy; None: the compiler's heuristic.
      keep_objects: whether objects are kept for linking.
      given: decisions that each module's compile is given, which take precedence.

    Returns: counts for the manifest.
    Raises: RunError: more modules failed than allowed.
    """
    setup = dataclasses.replace(setup, extra_flags=(*setup.extra_flags, *side.flags), wants_objects=True)
    if side.clang is not None:
        setup = dataclasses.replace(setup, clang=side.clang, executor=LocalExecutor(setup.workers))

    def keep(module: Module, outcome: CompileResult | CompileFailure, record: ModuleRecord) -> None:
        del record
        if isinstance(outcome, CompileFailure):
            return
        functions = outcome.code.functions
        files.write_json_atomically(
            _code_path(folder, module.name), {function.name: function.size for function in functions}
        )
        if keep_objects:
            files.write_atomically(object_path(folder, module.name), outcome.object_bytes)

    return compile_corpus(folder, corpus, setup, title, model_dir, False, keep, given)


def code_of_side(folder: pathlib.Path, modules: Sequence[str]) -> dict[str, dict[str, int]]:
    """Module -> function -> bytes, for the side in `folder`.

    Raises: RunError: a file is missing or damaged.
    """
    remedy = "Delete the folder and run again"
    found = {}
    for name in modules:
        path = _code_path(folder, name)
        content = files.read_json(path, "function sizes", remedy)
        found[name] = Fields(content, f"function sizes ({path})", remedy).integers_by_name()
    return found


def link_side(folder: pathlib.Path, linker: pathlib.Path, modules: Sequence[str], icf: bool) -> dict[str, int]:
    """Code bytes of each of `modules` in their linked image, for the side in `folder`.

    Raises: RunError: linking fails.
    """
    with tempfile.TemporaryDirectory(prefix="mlgo-link-") as work:
        objects = {name: object_path(folder, name) for name in modules}
        return linked_code.link(linker, objects, pathlib.Path(work), icf)


def _code_path(folder: pathlib.Path, name: str) -> pathlib.Path:
    return folder / "code" / f"{name}.json"


def object_path(folder: pathlib.Path, name: str) -> pathlib.Path:
    """The object of module `name`, for the side in `folder`."""
    return folder / "objects" / f"{name}.o"
