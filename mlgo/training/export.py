"""The results of a run as files: the policy as compilers take it (SavedModel, TFLite), its record, the figures."""

import pathlib
import shutil
from collections.abc import Mapping
from typing import Any

from mlgo.evaluation.comparison import Comparison, rows_to_csv
from mlgo.learning.network import PolicyNetwork
from mlgo.pages.rendering import svg
from mlgo.problems.problem import Problem
from mlgo.run import files
from mlgo.training import curves, figures
from mlgo.training.growth import LEARNING, LEARNING_CURVE_NAME

TFLITE_NAME = "tflite"  #: folder of the TFLite form, for the development clang, below the policy's.
_RECORD_NAME = "policy.json"

_BUILD = """\
# Written beside the policy that a training run has made.{clang}
filegroup(
    name = "policy",
    srcs = [
        "policy.json",
        "saved_model.pb",
        "weights.npz",
    ],
    visibility = ["//visibility:public"],
)
"""

_CLANG = """ To install a clang with it:
#     ./bazelw run //release:install -- --prefix="$HOME/mlgo-clang" --{slot}=<this folder>"""


def export_policy(folder: pathlib.Path, network: PolicyNetwork, problem: Problem) -> None:
    """Writes `network`, greedy, into `folder` as mlgo/policy/saved_model.py describes, and its TFLite form."""
    from mlgo.policy import saved_model, tflite  # pylint: disable=import-outside-toplevel  # They bring TensorFlow.

    saved_model.save_policy(network, problem, folder)
    tflite.convert(folder, folder / TFLITE_NAME, problem)


def publish_policy(exported: pathlib.Path, folder: pathlib.Path, problem: Problem, training: Mapping[str, Any]) -> None:
    """Makes `folder` what a user takes away: the files in `exported`, the training's record, a BUILD file."""
    record = files.read_json(exported / _RECORD_NAME, "record of the policy", "Run the same command again")
    with files.directory_written_atomically(folder) as partial:
        for name in ("saved_model.pb", "weights.npz"):
            shutil.copyfile(exported / name, partial / name)
        shutil.copytree(exported / TFLITE_NAME, partial / TFLITE_NAME)
        (partial / _RECORD_NAME).write_bytes(files.encode_json({**record, "training": training}))
        slot = (problem.release_setting or "").rpartition(":")[2]
        clang = _CLANG.format(slot=slot) if slot else ""
        (partial / "BUILD.bazel").write_text(_BUILD.format(clang=clang), encoding="utf-8")


def write_results(
    folder: pathlib.Path, comparison: Comparison | None, problem: Problem, training: Mapping[str, Any]
) -> None:
    """Writes record, figures, learning curve and table of functions into `folder`, which has the results of the stages.
    Args: training: the record of the run for policy.json, with the summaries of "learning" and "held_out".
    """
    iterations, validations = figures.read_records(folder / LEARNING)
    files.write_atomically(folder / figures.METRICS_NAME, figures.metrics_lines(iterations, validations))
    curve = curves.learning_curve(iterations, validations, training["learning"]["chosen_iteration"])
    files.write_atomically(folder / LEARNING_CURVE_NAME, svg(curve))
    if comparison is not None:
        table = rows_to_csv(comparison.rows, list(comparison.summaries))
        files.write_atomically(folder / "held_out" / "functions.csv", table)
        files.write_json_atomically(folder / "held_out" / "result.json", training["held_out"])
    publish_policy(folder / "export", folder / "policy", problem, training)
