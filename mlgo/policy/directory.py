"""Reads a policy that `save_policy` (saved_model.py) wrote. A separate module, because reading needs no TensorFlow."""

import hashlib
import os
import pathlib
from collections.abc import Mapping
from typing import Any

from mlgo.learning.checkpoint import MAX_CHECKPOINT_BYTES, decode_arrays
from mlgo.learning.exact_network import exact_network
from mlgo.learning.network import PolicyNetwork
from mlgo.learning.normalization import Normalizer
from mlgo.policy.checks import FEATURE_REMEDY, features_fault, known_features, normalizer_fault, weights_fault
from mlgo.problems.problem import Problem
from mlgo.run.exit_codes import RunError
from mlgo.run.files import read_json

FORMAT = "mlgo policy 1"
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
    record = read_json(record_path, "the policy's record", _REMEDY)
    what = f"the policy's record {record_path}"
    if not isinstance(record, dict) or record.get("format") != FORMAT:
        raise RunError(what, f"is not of format {FORMAT!r}", _REMEDY)
    if record.get("problem") != problem.name:
        raise RunError(
            f"the policy in {folder}", f"is for {record.get('problem')!r}, not for {problem.name!r}", _REMEDY
        )
    normalizer = _recorded_normalizer(record, problem, what)
    content = _recorded_file(folder, "weights.npz", record, what)
    if (folder / "saved_model.pb").exists():
        # One backend reads this file and the other the weights; if they were of two policies, so would the compilers
        # be.
        _recorded_file(folder, "saved_model.pb", record, what)
    what = f"the weights {folder / 'weights.npz'}"
    weights = decode_arrays(content, what)
    if clause := weights_fault(weights, normalizer.width):
        raise RunError(what, clause, _REMEDY)
    try:
        exact_network(weights)
    except RunError as error:
        raise RunError(what, f"{error.subject} {error.wrong}", error.remedy) from error
    return PolicyNetwork(normalizer, weights), record


def _recorded_normalizer(record: Mapping[str, Any], problem: Problem, what: str) -> Normalizer:
    features = record.get("features")
    if not isinstance(features, list) or not all(isinstance(name, str) for name in features):
        raise RunError(what, 'has no list of names "features"', _REMEDY)
    if clause := features_fault(tuple(features), problem):
        raise RunError(what, clause, FEATURE_REMEDY)
    if record.get("decision") != problem.action_spec.name:
        raise RunError(what, f"decides {record.get('decision')!r} instead of {problem.action_spec.name!r}", _REMEDY)
    try:
        normalizer = Normalizer.from_json(record["normalizer"])
    except (KeyError, ValueError) as error:
        raise RunError(what, f"holds no normaliser: {error}", _REMEDY) from error
    if clause := normalizer_fault(normalizer, problem):
        raise RunError(what, clause, FEATURE_REMEDY)
    # As sets: a later compiler may show the same features in another order.
    if differing := set(known_features(normalizer, problem)) ^ set(features):
        raise RunError(what, f"lists other features than its normaliser knows: {', '.join(sorted(differing))}", _REMEDY)
    return normalizer


def _recorded_file(folder: pathlib.Path, name: str, record: Mapping[str, Any], what: str) -> bytes:
    path = folder / name
    try:
        if path.stat().st_size > MAX_CHECKPOINT_BYTES:
            raise RunError(f"the policy's file {path}", f"is larger than {MAX_CHECKPOINT_BYTES} bytes", _REMEDY)
        content = path.read_bytes()
    except OSError as error:
        raise RunError(f"the policy's file {path}", f"cannot be read: {error.strerror}", _REMEDY) from error
    digests = record.get("sha256")
    if not isinstance(digests, dict):
        raise RunError(what, 'has no object "sha256" with the digests of its files', _REMEDY)
    if hashlib.sha256(content).hexdigest() != digests.get(name):
        raise RunError(f"the policy's file {path}", "is not the one that policy.json names (sha256 differs)", _REMEDY)
    return content
