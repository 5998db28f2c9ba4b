"""Reads a policy that `save_policy` (saved_model.py) wrote. A separate module, because reading needs no TensorFlow."""

import hashlib
import os
import pathlib
from typing import Any

from mlgo.learning.checkpoint import MAX_CHECKPOINT_BYTES, decode_arrays
from mlgo.learning.exact_network import exact_network
from mlgo.learning.network import PolicyNetwork
from mlgo.learning.normalization import Normalizer
from mlgo.policy.checks import FEATURE_REMEDY, features_fault, known_features, normalizer_fault, weights_fault
from mlgo.problems.problem import Problem
from mlgo.run.exit_codes import RunError
from mlgo.run.files import read_json
from mlgo.run.json_fields import Fields
from mlgo.run.regular_file import read_file

FORMAT = "mlgo policy 1"
#: Names of a run's policies in ml-compiler-opt (compiler_opt/rl/train_locally.py).
_NAMES_OF_PEER = ("saved_policy", "saved_collect_policy")
_REMEDY = "Name a directory that a training run or save_policy has written"


def load_policy(folder: str | os.PathLike[str], problem: Problem) -> tuple[PolicyNetwork, dict[str, Any]]:
    """(network, policy.json) of what `save_policy` wrote.

    The policy may know fewer features than the problem has.

    Raises: RunError: a file is missing, damaged or not the one that policy.json names; or the policy is for another
      problem, wants a feature that `problem` lacks, or has weights that are no network over its normaliser, or none
      that can be computed with exactly. Names file and tensor.
    """
    folder = pathlib.Path(folder)
    record_path = folder / "policy.json"
    if is_peers(folder):
        raise RunError(
            f"the policy in {folder}",
            "is a SavedModel without policy.json, whose network is not ours, so it cannot be trained further",
            "Evaluate or explain it, build it into a compiler with --//release:backend=aot, or imitate it with"
            f" --algorithm=bc_max --imitate={folder}",
        )
    what = f"the policy's record ({record_path})"
    content = read_json(record_path, "the policy's record", _REMEDY)
    record = Fields(content, what, _REMEDY)
    if record.read("format", str) != FORMAT:
        raise record.error(f"is not of format {FORMAT!r}")
    recorded = record.read("problem", str)
    if recorded != problem.policy_name:
        same_folder = recorded.partition("+")[0] == problem.folder
        remedy = f"Give the problem as {recorded}" if same_folder else _REMEDY
        raise RunError(f"the policy in {folder}", f"is for {recorded!r}, not for {problem.policy_name!r}", remedy)
    normalizer = _recorded_normalizer(record, problem, what)
    weights_content = _recorded_file(folder, "weights.npz", record)
    if (folder / "saved_model.pb").exists():
        # One backend reads this file and the other the weights; if they were of two policies, so would the compilers
        # be.
        _recorded_file(folder, "saved_model.pb", record)
    what = f"the weights {folder / 'weights.npz'}"
    weights = decode_arrays(weights_content, what, _REMEDY)
    if clause := weights_fault(weights, normalizer.width):
        raise RunError(what, clause, _REMEDY)
    try:
        exact_network(weights)
    except RunError as error:
        raise RunError(what, f"{error.subject} {error.wrong}", error.remedy) from error
    return PolicyNetwork(normalizer, weights), content


def is_peers(folder: pathlib.Path) -> bool:
    """Whether `folder` is a SavedModel that this project did not write: it has neither our record nor our weights."""
    ours = any((folder / name).exists() for name in ("policy.json", "weights.npz"))
    return not ours and (folder / "saved_model.pb").exists()


def policy_folder(path: pathlib.Path) -> pathlib.Path:
    """The folder of a policy that a user names `path`.

    ml-compiler-opt's documents name the policy of a run RUN/saved_policy; ours is RUN/policy.
    """
    ours = path.parent / "policy"
    return ours if path.name in _NAMES_OF_PEER and not path.exists() and ours.is_dir() else path


def _recorded_normalizer(record: Fields, problem: Problem, what: str) -> Normalizer:
    features = record.texts("features")
    if clause := features_fault(tuple(features), problem):
        raise RunError(what, clause, FEATURE_REMEDY)
    if (decision := record.read("decision", str)) != problem.action_spec.name:
        raise record.error(f"decides {decision!r} instead of {problem.action_spec.name!r}")
    try:
        normalizer = Normalizer.from_json(record.read("normalizer", dict))
    except ValueError as error:
        raise record.error(f"holds no normaliser: {error}") from error
    if clause := normalizer_fault(normalizer, problem):
        raise RunError(what, clause, FEATURE_REMEDY)
    # As sets: a later compiler may show the same features in another order.
    if differing := set(known_features(normalizer, problem)) ^ set(features):
        raise RunError(what, f"lists other features than its normaliser knows: {', '.join(sorted(differing))}", _REMEDY)
    return normalizer


def _recorded_file(folder: pathlib.Path, name: str, record: Fields) -> bytes:
    path = folder / name
    content = read_file(path, MAX_CHECKPOINT_BYTES, "the policy's file", _REMEDY)
    if hashlib.sha256(content).hexdigest() != record.texts_by_name("sha256").get(name):
        raise RunError(f"the policy's file ({path})", "is not the one that policy.json names (sha256 differs)", _REMEDY)
    return content
