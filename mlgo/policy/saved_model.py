"""A policy on disk: SavedModel for AOT compilation, the weights it was made from, and where they came from.

    saved_model.pb   signature `action`: inputs are the observations that the policy knows by name, output the decision by name
    weights.npz      the trained float32 weights (mlgo/learning/checkpoint.py's encoding)
    policy.json      the record: problem, normaliser, digests, versions, and what the training says about itself

The SavedModel is one graph with constants, no functions, no variables, no time stamp and no path: equal weights give
equal bytes. (tf.saved_model.save numbers its functions by what the process did before, and writes a random fingerprint.)
"""

import hashlib
import os
import pathlib
from collections.abc import Mapping
from typing import Any

import numpy as np
import tensorflow as tf
from tensorflow.core.protobuf import saved_model_pb2

from mlgo.learning.checkpoint import MAX_CHECKPOINT_BYTES, decode_arrays, encode_arrays
from mlgo.learning.exact_network import exact_network
from mlgo.learning.network import PolicyNetwork
from mlgo.learning.normalization import Normalizer
from mlgo.policy.checks import features_fault, known_features, normalizer_fault, weights_fault
from mlgo.policy.graph import build_graph
from mlgo.problems.problem import Problem
from mlgo.run.exit_codes import RunError
from mlgo.run.files import read_json, write_atomically, write_json_atomically

SIGNATURE = "action"
TAG = "serve"
_FORMAT = "mlgo policy 1"
_REMEDY = "Name a directory that a training run or save_policy has written"
_FEATURE_REMEDY = "Train the policy for this compiler, or build the compiler that it was trained for"


def save_policy(
    network: PolicyNetwork, problem: Problem, folder: str | os.PathLike[str], training: Mapping[str, Any] | None = None
) -> None:
    """Writes the greedy policy to `folder`; policy.json comes last.

    Args: training: JSON values about the run that made the weights (seed, corpus digest, held-out score, ...).
    Raises: RunError: the weights are not finite or too large to be exact (exact_network.py), or the disk is full.
    """
    folder = pathlib.Path(folder)
    exact = exact_network(network.weights)
    model = saved_model_bytes(network, problem)
    weights = encode_arrays(network.weights)
    write_atomically(folder / "saved_model.pb", model)
    write_atomically(folder / "weights.npz", weights)
    write_json_atomically(
        folder / "policy.json",
        {
            "format": _FORMAT,
            "problem": problem.name,
            "features": list(known_features(network.normalizer, problem)),
            "decision": problem.action_spec.name,
            "normalizer": network.normalizer.to_json(),
            "normalizer_digest": network.normalizer.digest,
            "weight_bits": [layer.bits for layer in exact.hidden],
            "sha256": {
                "saved_model.pb": hashlib.sha256(model).hexdigest(),
                "weights.npz": hashlib.sha256(weights).hexdigest(),
            },
            "versions": {"tensorflow": tf.__version__, "numpy": np.__version__},
            "training": dict(training or {}),
        },
    )


def load_policy(folder: str | os.PathLike[str], problem: Problem) -> tuple[PolicyNetwork, dict[str, Any]]:
    """(network, policy.json) of what `save_policy` wrote.

    The policy may know fewer features than the problem has.

    Raises: RunError: a file is missing, damaged or not the one that policy.json names; or the policy is for another problem,
      wants a feature that `problem` lacks, or has weights that are no network over its normaliser. Names file and tensor.
    """
    folder = pathlib.Path(folder)
    record_path = folder / "policy.json"
    record = read_json(record_path, "the policy's record", _REMEDY)
    what = f"the policy's record {record_path}"
    if not isinstance(record, dict) or record.get("format") != _FORMAT:
        raise RunError(what, f"is not of format {_FORMAT!r}", _REMEDY)
    if record.get("problem") != problem.name:
        raise RunError(f"the policy in {folder}", f"is for {record.get('problem')!r}, not for {problem.name!r}", _REMEDY)
    normalizer = _recorded_normalizer(record, problem, what)
    content = _recorded_file(folder, "weights.npz", record, what)
    if (folder / "saved_model.pb").exists():
        # One backend reads this file and the other the weights; if they were of two policies, so would the compilers be.
        _recorded_file(folder, "saved_model.pb", record, what)
    weights = decode_arrays(content, f"the weights {folder / 'weights.npz'}")
    if clause := weights_fault(weights, normalizer.width):
        raise RunError(f"the weights {folder / 'weights.npz'}", clause, _REMEDY)
    return PolicyNetwork(normalizer, weights), record


def _recorded_normalizer(record: Mapping[str, Any], problem: Problem, what: str) -> Normalizer:
    features = record.get("features")
    if not isinstance(features, list) or not all(isinstance(name, str) for name in features):
        raise RunError(what, 'has no list of names "features"', _REMEDY)
    if clause := features_fault(tuple(features), problem):
        raise RunError(what, clause, _FEATURE_REMEDY)
    if record.get("decision") != problem.action_spec.name:
        raise RunError(what, f"decides {record.get('decision')!r} instead of {problem.action_spec.name!r}", _REMEDY)
    try:
        normalizer = Normalizer.from_json(record["normalizer"])
    except (KeyError, ValueError) as error:
        raise RunError(what, f"holds no normaliser: {error}", _REMEDY) from error
    if clause := normalizer_fault(normalizer, problem):
        raise RunError(what, clause, _FEATURE_REMEDY)
    if list(known_features(normalizer, problem)) != features:
        raise RunError(what, f"lists the features {features}, and its normaliser knows others", _REMEDY)
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


def saved_model_bytes(network: PolicyNetwork, problem: Problem) -> bytes:
    """saved_model.pb of the greedy policy."""
    policy = build_graph(problem, network.normalizer, exact_network(network.weights))
    model = saved_model_pb2.SavedModel(saved_model_schema_version=1)
    meta_graph = model.meta_graphs.add()
    meta_graph.meta_info_def.tags.append(TAG)
    meta_graph.graph_def.CopyFrom(policy.graph.as_graph_def())
    signature = meta_graph.signature_def[SIGNATURE]
    signature.method_name = tf.compat.v1.saved_model.signature_constants.PREDICT_METHOD_NAME
    for name, tensor in policy.inputs.items():
        _describe(signature.inputs[name], tensor)
    _describe(signature.outputs[problem.action_spec.name], policy.output)
    return model.SerializeToString(deterministic=True)


def _describe(info, tensor: tf.Tensor) -> None:
    """Fills a TensorInfo (tf.compat.v1.saved_model.build_tensor_info, without its deprecation warning)."""
    info.name = tensor.name
    info.dtype = tensor.dtype.as_datatype_enum
    info.tensor_shape.CopyFrom(tensor.shape.as_proto())
