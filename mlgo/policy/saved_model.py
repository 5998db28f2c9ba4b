"""A policy on disk: the SavedModel for AOT compilation, its weights, and the record of their origin.

    saved_model.pb   signature `action`: inputs are the observations that the policy knows, the output is the decision
    weights.npz      the trained float32 weights (mlgo/learning/checkpoint.py's encoding)
    policy.json      the record: problem, normaliser, digests, versions, and what the training says about itself

directory.py reads it again.

The SavedModel is one graph with constants, no functions, no variables, no time stamp and no path: equal weights give
equal bytes. (tf.saved_model.save numbers its functions by what the process did before, and writes a random
fingerprint.)
"""

import hashlib
import os
import pathlib
from collections.abc import Mapping
from typing import Any

import numpy as np
import tensorflow as tf
from tensorflow.core.protobuf import saved_model_pb2

from mlgo.learning.checkpoint import encode_arrays
from mlgo.learning.exact_network import exact_network
from mlgo.learning.network import PolicyNetwork
from mlgo.policy.checks import known_features
from mlgo.policy.directory import FORMAT
from mlgo.policy.graph import build_graph
from mlgo.policy.saved_model_signature import SIGNATURE, TAG
from mlgo.problems.problem import Problem
from mlgo.run.files import write_atomically, write_json_atomically


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
            "format": FORMAT,
            "problem": problem.policy_name,
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


def saved_model_bytes(network: PolicyNetwork, problem: Problem) -> bytes:
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
