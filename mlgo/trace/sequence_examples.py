"""A trace as a TFRecord file of tf.train.SequenceExample, as ml-compiler-opt's trainers read it.

There is one example per function whose score the compiler logs, else one per module. It has one feature list per
observation and one for the decision, named as the problem names them, and `reward`, which is the same in every step
(ml-compiler-opt, compiler_opt/rl/data_reader.py and compilation_runner.py): 1 - (score + offset) / (default's +
offset).
"""

import os
import pathlib
import tempfile
from collections.abc import Iterator, Mapping

import numpy as np

from mlgo.problems.objective import LoggedScore
from mlgo.problems.problem import Problem
from mlgo.run import files
from mlgo.run.exit_codes import RunError
from mlgo.run.quiet import quiet_libraries
from mlgo.score.function_scores import score_ratio
from mlgo.trace.outcomes import ModuleRecord
from mlgo.trace.trace import Decisions, Trace

#: Name of the feature list with the reward, in ml-compiler-opt's time_step_spec.
REWARD = "reward"


def write_tfrecord(path: pathlib.Path, trace: Trace, problem: Problem, default: Mapping[str, ModuleRecord]) -> int:
    """Writes the decisions of `trace`; a file that is there is replaced when the new one is complete.

    Args: default: the records of the same modules under the compiler's heuristic, by name; rewards compare with them.

    Returns: the number of examples. A function without a score on both sides has none.
    Raises: RunError: the trace is damaged or of another problem, or the file cannot be written.
    """
    with quiet_libraries():
        import tensorflow as tf  # pylint: disable=import-outside-toplevel  # Slow; other output does without.

    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        descriptor, partial = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.", suffix=files.PARTIAL_SUFFIX)
        os.close(descriptor)
        try:
            count = 0
            with tf.io.TFRecordWriter(partial) as writer:
                for name in trace.traced:
                    decisions = trace.decisions(name, problem)
                    for begin, end, reward in _sequences(decisions, trace.records[name], default[name], problem):
                        writer.write(_example(tf, decisions, begin, end, reward, problem))
                        count += 1
            os.chmod(partial, 0o644)
            files.flush(pathlib.Path(partial))
            os.replace(partial, path)
            files.flush(path.parent)
        finally:
            pathlib.Path(partial).unlink(missing_ok=True)
    except OSError as error:
        raise files.write_error(error, path) from error
    return count


def _sequences(
    decisions: Decisions, found: ModuleRecord, default: ModuleRecord, problem: Problem
) -> Iterator[tuple[int, int, float]]:
    """(first decision, one behind the last, reward) of each example."""
    if not isinstance(problem.score, LoggedScore):
        before, after = (sum(score.score for score in record.functions.values()) for record in (default, found))
        if default.functions:
            yield 0, len(decisions.actions), _reward(before, after, problem)
        return
    if not decisions.contexts:
        wrong = "has no names of functions, for an earlier version recorded it"
        raise RunError(f"trace of {decisions.module_name}", wrong, "Trace again into another --output_dir")
    context = decisions.observation_context
    starts = [0, *(np.flatnonzero(np.diff(context)) + 1).tolist()]
    for begin, end in zip(starts, [*starts[1:], len(context)]):
        name = decisions.contexts[context[begin]]
        if name in default.functions and name in found.functions:
            yield begin, end, _reward(default.functions[name].score, found.functions[name].score, problem)


def _reward(default: float, found: float, problem: Problem) -> float:
    return 1.0 - score_ratio(default, found, problem.score.offset, problem.score.goal)


def _example(tf, decisions: Decisions, begin: int, end: int, reward: float, problem: Problem) -> bytes:
    example = tf.train.SequenceExample()
    lists = example.feature_lists.feature_list
    columns = {spec.name: decisions.features[spec.name] for spec in problem.observation_specs}
    columns[problem.action_spec.name] = decisions.actions
    for name, column in columns.items():
        steps = lists[name].feature
        is_float = column.dtype.kind == "f"
        for row in column[begin:end].reshape(end - begin, -1).tolist():
            step = steps.add()
            (step.float_list if is_float else step.int64_list).value.extend(row)
    for _ in range(end - begin):
        lists[REWARD].feature.add().float_list.value.append(reward)
    return example.SerializeToString(deterministic=True)
