"""The files that a run writes for users and later commands: record, figures, learning curve, table of functions."""

import pathlib
from collections.abc import Mapping
from typing import Any

from mlgo.evaluation.comparison import Comparison, rows_to_csv
from mlgo.problems.problem import Problem
from mlgo.run import files
from mlgo.run.quiet import quiet_libraries
from mlgo.training import export, figures, learning_records
from mlgo.training.growth import LEARNING, LEARNING_CURVE_NAME


def write(folder: pathlib.Path, comparison: Comparison | None, problem: Problem, training: Mapping[str, Any]) -> None:
    """Writes them into `folder`, which has the results of the stages.

    Args:
      comparison: the held-out result, if there is one.
      problem: what was learned.
      training: the record of the run for policy.json; its field "learning" is the summary of the learning stage, and
        "held_out" the record of the comparison.
    """
    iterations, validations = learning_records.read_records(folder / LEARNING)
    files.write_atomically(folder / figures.METRICS_NAME, figures.metrics_lines(iterations, validations))
    with quiet_libraries():
        curve = figures.learning_curve(iterations, validations, training["learning"]["chosen_iteration"])
    files.write_atomically(folder / LEARNING_CURVE_NAME, curve)
    if comparison is not None:
        table = rows_to_csv(comparison.rows, list(comparison.summaries))
        files.write_atomically(folder / "held_out" / "functions.csv", table)
        files.write_json_atomically(folder / "held_out" / "result.json", training["held_out"])
    export.publish_policy(folder / "export", folder / "policy", problem, training)
