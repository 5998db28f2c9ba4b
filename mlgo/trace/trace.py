"""Traces: the decisions of the compiler's heuristic, or of a policy, in every module of a corpus, and the scores.

The folder of the stage holds, for each module NAME, `modules/NAME.json` (outcome and scores, see outcomes.py) and, if
decisions were made, `modules/NAME.arrays` (see arrays.py). The record is written last: a module that has one is done.
"""

import contextlib
import dataclasses
import functools
import itertools
import json
import pathlib
from collections.abc import Callable, Generator, Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from mlgo.compiler.request import CompileFailure, CompileOutcome, CompileResult
from mlgo.compiler.training_log import TrainingLog
from mlgo.corpus.corpus import Corpus, Module
from mlgo.problems.objective import LoggedScore
from mlgo.problems.problem import Problem
from mlgo.run import files, progress
from mlgo.run.exit_codes import RunError
from mlgo.run.write_queue import WriteQueue
from mlgo.score.problem_score import score_of
from mlgo.score.score import Score
from mlgo.trace import arrays
from mlgo.trace.no_decisions import no_decisions
from mlgo.trace.outcomes import FailureLimit, ModuleRecord, Outcome, count_outcomes, is_done, read_record, write_record
from mlgo.trace.setup import CompileSetup

#: Names of the arrays beside the features, which keep their own names.
ACTIONS_NAME = ":actions"
OBSERVATION_CONTEXT_NAME = ":observation_context"
#: Names of the contexts as a JSON list; only where the compiler logs a score for each of them.
CONTEXTS_NAME = ":contexts"

#: cc1 flag: stop after the optimiser, and write its result where the object would be.
_INSTEAD_OF_OBJECT = "-emit-llvm-bc"

#: Module → content of a file of decisions for its compile (CompileRequest.decisions); None: none are given.
DecisionsGiven = Callable[[Module], bytes | None]


@dataclasses.dataclass(frozen=True)
class Decisions:
    """The decisions in one module: N observations."""

    module_name: str
    features: Mapping[str, np.ndarray]  #: observation name -> array [N, *shape], dtype as the problem says.
    actions: np.ndarray  #: array [N], dtype of the problem's action.
    observation_context: np.ndarray  #: int32 [N], which function of the module, non-decreasing.
    contexts: tuple[str, ...] = ()  #: names of the functions that `observation_context` counts; (): not stored.


@dataclasses.dataclass(frozen=True)
class Trace:
    """A finished trace."""

    folder: pathlib.Path
    records: Mapping[str, ModuleRecord]  #: the outcome of each module, by name, in the order of the corpus.

    @staticmethod
    def load(folder: pathlib.Path, corpus: Corpus) -> "Trace":
        """The trace of `corpus` in `folder`."""
        return Trace(folder, {module.name: read_record(_record_path(folder, module)) for module in corpus.modules})

    @property
    def traced(self) -> list[str]:
        """Names of the modules that have decisions, in the corpus's order."""
        return [name for name, record in self.records.items() if record.outcome is Outcome.TRACED]

    def decisions(self, name: str, problem: Problem) -> Decisions:
        """The decisions in module `name`. Raises: RunError: the file is damaged or of another problem."""
        path = _arrays_path(self.folder, name)
        content = arrays.read(path, f"trace of {name}")
        if wrong := decisions_fault(content, problem):
            raise RunError(f"trace of {name} ({path})", wrong, "Trace again into another --output_dir")
        features = {spec.name: content[spec.name] for spec in problem.observation_specs}
        contexts = _contexts(content, f"trace of {name} ({path})")
        return Decisions(name, features, content[ACTIONS_NAME], content[OBSERVATION_CONTEXT_NAME], contexts)


def decisions_fault(found: Mapping[str, np.ndarray], problem: Problem) -> str | None:
    """The reason why `found`, the arrays of a file, are not decisions of `problem`; None: they are.

    Expected: ACTIONS_NAME and OBSERVATION_CONTEXT_NAME [N], every observation [N, *shape] with its dtype.
    """
    actions = found.get(ACTIONS_NAME)
    count = len(actions) if actions is not None and actions.ndim else 0
    dtype = np.dtype(np.int64) if actions is None else actions.dtype
    expected: dict[str, tuple[tuple[int, ...], np.dtype]] = {ACTIONS_NAME: ((count,), dtype)}
    expected[OBSERVATION_CONTEXT_NAME] = ((count,), np.dtype(np.int32))
    expected |= {spec.name: ((count, *spec.shape), np.dtype(spec.dtype)) for spec in problem.observation_specs}
    if missing := next((name for name in expected if name not in found), None):
        return f"lacks {missing!r} of {problem.name}"
    for name, (shape, dtype) in expected.items():
        array = found[name]
        if (array.shape, array.dtype) != (shape, dtype):
            return f"has {name!r} as {array.dtype} {list(array.shape)} instead of {dtype} {list(shape)}"
    return None


def trace_corpus(
    folder: pathlib.Path,
    corpus: Corpus,
    setup: CompileSetup,
    title: str,
    model_dir: pathlib.Path | None = None,
    keep_decisions: bool = True,
) -> Mapping[str, Any]:
    """Traces every module of `corpus` that has no record in the stage's `folder` yet.

    Args:
      title: the stage's name in messages.
      model_dir: the TFLite policy that decides; None: the compiler's default.
      keep_decisions: whether decisions are stored, or only scores.

    Returns: counts for the manifest.
    Raises: RunError: more modules failed than allowed (the next run compiles them again), or no module has a decision.
    """

    def keep(module: Module, outcome: CompileOutcome, record: ModuleRecord) -> None:
        if isinstance(outcome, CompileResult) and record.outcome is Outcome.TRACED and keep_decisions:
            files.write_atomically(_arrays_path(folder, module.name), _encode(outcome.made_log, setup.problem))

    counts = compile_corpus(folder, corpus, setup, title, model_dir, True, keep)
    if not counts["decisions"]:
        raise no_decisions(corpus, setup.problem, f"stage {title}")
    return counts


def compile_corpus(
    folder: pathlib.Path,
    corpus: Corpus,
    setup: CompileSetup,
    title: str,
    model_dir: pathlib.Path | None,
    wants_decisions: bool,
    keep: Callable[[Module, CompileOutcome, ModuleRecord], None],
    given: DecisionsGiven = lambda module: None,
) -> Mapping[str, Any]:
    """Compiles every module of `corpus` that has no record in `folder` yet, or one of a failure; writes its record.

    Args:
      wants_decisions: whether decisions are logged where the score does not need it.
      keep: called with every module before its record is written, to store more of the result; from threads.
      given: the decisions that each module's compile is given.

    Returns: counts for the manifest.
    Raises: RunError: more modules failed than allowed (the next run compiles them again).
    """
    failures = FailureLimit(title, len(corpus.modules), setup.max_failure_ratio)
    paths = {module.name: _record_path(folder, module) for module in corpus.modules}
    left = [module for module in corpus.modules if not is_done(paths[module.name])]
    score = score_of(setup.problem)
    outcomes = compile_modules(
        left, setup, itertools.repeat(model_dir), itertools.repeat(wants_decisions), map(given, left)
    )

    def store(module: Module, outcome: CompileOutcome, record: ModuleRecord) -> None:
        keep(module, outcome, record)
        write_record(paths[module.name], record)

    shown = progress.start(title, len(corpus.modules), "modules", done=len(corpus.modules) - len(left))
    with contextlib.closing(shown), contextlib.closing(outcomes), WriteQueue() as writes:
        for module, outcome in outcomes:
            try:
                record = _record(module, outcome, failures, score)
            except RunError:
                # The module's record must not be there: the next run, with the cause removed, compiles it again.
                paths[module.name].unlink(missing_ok=True)
                raise
            writes.submit(functools.partial(store, module, outcome, record))
            shown.advance(1, failures.describe() if failures.failed else "")
    return count_outcomes(map(read_record, paths.values()))


def compile_modules(
    modules: Sequence[Module],
    setup: CompileSetup,
    models: Iterable[pathlib.Path | None],
    want_decisions: Iterable[bool] = itertools.repeat(True),
    given: Iterable[bytes | None] = itertools.repeat(None),
) -> Generator[tuple[Module, CompileOutcome], None, None]:
    """Compiles `modules`; yields each with its outcome, which the score of the problem can read, in the given order.

    Close the iterator when leaving early: it then ends the compilers that still run.

    Args:
      models: the TFLite policy for each module, None for the compiler's default. Its next element is asked for in the
        caller's thread, shortly before the module's turn, so policies may be written as they are needed.
      want_decisions: whether decisions are logged too; otherwise only what the score needs is logged.
      given: content of a file of decisions for each compile (CompileRequest.decisions); None: none are given.
    """
    score, code_of = score_of(setup.problem), setup.code_of_bitcode
    requests = (
        setup.request(
            module,
            model_dir=model,
            decisions=decisions,
            want_log=wants_decisions or score.needs_log,
            want_object=score.needs_object or setup.wants_objects,
            extra_flags=(*setup.extra_flags, *([_INSTEAD_OF_OBJECT] if code_of else [])),
        )
        for module, model, wants_decisions, decisions in zip(modules, models, want_decisions, given)
    )
    with contextlib.closing(setup.run_ordered(requests)) as outcomes:
        for module, outcome in zip(modules, outcomes, strict=True):
            if code_of is not None and isinstance(outcome, CompileResult):
                code = code_of(outcome.made_object, outcome.module_name)
                outcome = dataclasses.replace(outcome, object_bytes=None, estimated_code=code)
            yield module, outcome


def _record(module: Module, outcome: CompileOutcome, failures: FailureLimit, score: Score) -> ModuleRecord:
    if isinstance(outcome, CompileFailure):
        failures.add(module.name, outcome.kind.value, outcome.detail)
        return ModuleRecord(Outcome.FAILED, outcome.kind.value)
    functions = score.read(outcome)
    decided = any(function.decisions for function in functions.values())
    return ModuleRecord(Outcome.TRACED if decided else Outcome.NO_DECISIONS, functions=functions)


def _contexts(content: Mapping[str, np.ndarray], what: str) -> tuple[str, ...]:
    """Raises: RunError: the names are no JSON list, or fewer than decisions refer to."""
    if CONTEXTS_NAME not in content:
        return ()
    try:
        names = json.loads(content[CONTEXTS_NAME].tobytes())
        numbers = content[OBSERVATION_CONTEXT_NAME]
        if not isinstance(names, list) or not all(isinstance(name, str) for name in names):
            raise ValueError("they are no list of texts")
        if len(numbers) and not 0 <= numbers.min() <= numbers.max() < len(names):
            raise ValueError("decisions refer to others")
    except (KeyError, ValueError, RecursionError) as error:
        raise RunError(what, f"has damaged names of functions: {error}", "Trace again into another folder") from error
    return tuple(names)


def _encode(log: TrainingLog, problem: Problem) -> bytes:
    named = {ACTIONS_NAME: log.actions, OBSERVATION_CONTEXT_NAME: log.observation_context}
    if isinstance(problem.score, LoggedScore):
        named[CONTEXTS_NAME] = np.frombuffer(json.dumps(log.contexts).encode("utf-8"), np.uint8)
    return arrays.encode({**log.features, **named})


def _record_path(folder: pathlib.Path, module: Module) -> pathlib.Path:
    return folder / "modules" / f"{module.name}.json"


def _arrays_path(folder: pathlib.Path, name: str) -> pathlib.Path:
    return folder / "modules" / f"{name}.arrays"
