"""The recorded decisions of a compile, with the names of functions and call sites.

Files in the stage's folder, for each module NAME: `modules/NAME.json` (mlgo/trace/outcomes.py) and, if there were
decisions, `decisions/NAME.arrays` (mlgo/trace/arrays.py). Traces for learning have neither names nor the heuristic's
answer.
"""

import dataclasses
import json
import pathlib
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from mlgo.compiler.request import CompileFailure, CompileResult
from mlgo.compiler.training_log import TrainingLog
from mlgo.corpus.corpus import Corpus, Module
from mlgo.problems.problem import Problem
from mlgo.run import files
from mlgo.run.exit_codes import RunError
from mlgo.score.code_credit import call_site
from mlgo.trace import arrays
from mlgo.trace.outcomes import ModuleRecord
from mlgo.trace.setup import CompileSetup
from mlgo.trace.trace import ACTIONS_NAME, CONTEXTS_NAME, OBSERVATION_CONTEXT_NAME, compile_corpus, decisions_fault

_HEURISTIC_NAME = ":heuristic"


@dataclasses.dataclass(frozen=True)
class RecordedDecisions:
    """The N decisions of one module, in their order."""

    module: str
    contexts: tuple[str, ...]  #: names of functions, or call sites "CALLER\\nCALLEE".
    context: np.ndarray  #: int32 [N], index into `contexts`, non-decreasing.
    features: Mapping[str, np.ndarray]  #: observation name -> array [N, *shape].
    taken: np.ndarray  #: [N], the decisions.
    heuristic: np.ndarray | None  #: [N], the heuristic's decisions in the same states; None: not recorded.

    def __len__(self) -> int:
        return len(self.taken)

    def function(self, decision: int) -> str:
        return call_site(self.contexts[self.context[decision]])[0]

    def callee(self, decision: int) -> str:
        """The called function of an inlining decision; "" for other problems."""
        return call_site(self.contexts[self.context[decision]])[1]

    def same_states(self, mine: Sequence[int], other: "RecordedDecisions", theirs: Sequence[int]) -> int:
        """The number of leading equal states, bit for bit, of the decisions `mine` and of `theirs` in `other`."""
        for count, (n, m) in enumerate(zip(mine, theirs)):
            if any(self.features[name][n].tobytes() != other.features[name][m].tobytes() for name in self.features):
                return count
        return min(len(mine), len(theirs))

    def by_function(self) -> dict[str, list[int]]:
        found: dict[str, list[int]] = {}
        for decision in range(len(self)):
            found.setdefault(self.function(decision), []).append(decision)
        return found


def record_corpus(
    folder: pathlib.Path, corpus: Corpus, setup: CompileSetup, title: str, model_dir: pathlib.Path | None
) -> Mapping[str, Any]:
    """Compiles the modules of `corpus` without a record in `folder` and records their decisions; returns counts.

    Raises: RunError: more modules failed than allowed.
    """

    def keep(module: Module, outcome: CompileResult | CompileFailure, record: ModuleRecord) -> None:
        del record
        if isinstance(outcome, CompileResult) and outcome.log is not None and outcome.log.observation_count:
            content = encode(outcome.log, setup.problem, heuristic_decided=model_dir is None)
            files.write_atomically(_path(folder, module.name), content)

    return compile_corpus(folder, corpus, setup, title, model_dir, True, keep)


def encode(log: TrainingLog, problem: Problem, heuristic_decided: bool) -> bytes:
    """The file's content for the decisions in `log`.

    Args: heuristic_decided: whether the heuristic took them; else its answers are recorded where they are logged.
    """
    default = problem.default_decision_spec
    heuristic = log.actions if heuristic_decided else log.extra_outputs.get(default.name) if default else None
    named = {
        CONTEXTS_NAME: np.frombuffer(json.dumps(log.contexts).encode("utf-8"), np.uint8),
        OBSERVATION_CONTEXT_NAME: log.observation_context,
        ACTIONS_NAME: log.actions,
    }
    if heuristic is not None:
        named[_HEURISTIC_NAME] = heuristic.reshape(-1)
    return arrays.encode({**log.features, **named})


def decode(found: Mapping[str, np.ndarray], what: str, module: str, problem: Problem) -> RecordedDecisions:
    """The decisions in what `encode` encoded. Raises: RunError: `what` is damaged, or of another problem."""
    remedy = "Delete it and run the same command again; it is then made anew"
    if wrong := decisions_fault(found, problem):
        raise RunError(what, wrong, remedy)
    try:
        contexts = json.loads(found[CONTEXTS_NAME].tobytes())
        recorded = RecordedDecisions(
            module=module,
            contexts=tuple(map(str, contexts)),
            context=found[OBSERVATION_CONTEXT_NAME],
            features={spec.name: found[spec.name] for spec in problem.observation_specs},
            taken=found[ACTIONS_NAME],
            heuristic=found.get(_HEURISTIC_NAME),
        )
    except (KeyError, ValueError, TypeError, RecursionError) as error:
        raise RunError(what, f"holds no decisions of {problem.name}: {error!r}", remedy) from error
    if len(recorded) and not 0 <= recorded.context.min() <= recorded.context.max() < len(recorded.contexts):
        raise RunError(what, "has decisions under names that it does not hold", remedy)
    return recorded


def load(folder: pathlib.Path, module: str, problem: Problem) -> RecordedDecisions | None:
    """The decisions in `module`; None: there are none, or it failed. Raises: RunError: the file is damaged."""
    path = _path(folder, module)
    if not path.exists():
        return None
    return decode(arrays.read(path, f"decisions of {module}"), f"decisions of {module} ({path})", module, problem)


def _path(folder: pathlib.Path, module: str) -> pathlib.Path:
    return folder / "decisions" / f"{module}.arrays"
