"""The chosen policy as files that compilers take: SavedModel, TFLite, and the BUILD file that names them."""

import pathlib
import shutil
from collections.abc import Mapping
from typing import Any

from mlgo.learning.network import PolicyNetwork
from mlgo.problems.problem import Problem
from mlgo.run import files

#: The TFLite form, for the development clang, in a folder of its own below the policy's.
TFLITE_NAME = "tflite"

RECORD_NAME = "policy.json"
_COPIED = ("saved_model.pb", "weights.npz")

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
    """Makes `folder` what a user takes away: the files in `exported`, the training's record in policy.json, a BUILD
    file.
    """
    record = files.read_json(exported / RECORD_NAME, "record of the policy", "Run the same command again")
    with files.directory_written_atomically(folder) as partial:
        for name in _COPIED:
            shutil.copyfile(exported / name, partial / name)
        shutil.copytree(exported / TFLITE_NAME, partial / TFLITE_NAME)
        (partial / RECORD_NAME).write_bytes(files.encode_json({**record, "training": training}))
        (partial / "BUILD.bazel").write_text(_build_file(problem), encoding="utf-8")


def _build_file(problem: Problem) -> str:
    clang = "" if problem.release_setting is None else _CLANG.format(slot=problem.release_setting.rpartition(":")[2])
    return _BUILD.format(clang=clang)
