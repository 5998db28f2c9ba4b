"""A policy as LLVM's development mode loads it: a directory with model.tflite and output_spec.json.

Converting takes a second or two and depends on nothing but the shape of the network and the normaliser. So a graph with
made-up weights is converted once, and a model is that template with the weights (and seeds) written over the
made-up ones: a fraction of a millisecond, and the same bytes as converting (a test compares).

What LLVM 22.1.8 asks of a model (llvm/lib/Analysis/TFLiteUtils.cpp, ModelUnderTrainingRunner.cpp): inputs are called
`action_<feature>:0`, are all known to the compiler, and are tensors 0, 1, ... of the model in the order of its inputs.
"""

import json
import os
import pathlib
import struct

import flatbuffers
import numpy as np
import tensorflow as tf
from tensorflow.lite.python import schema_py_generated as schema

from mlgo.learning.exact_network import ExactLayer, ExactNetwork, exact_network
from mlgo.learning.network import DEFAULT_DEVIATION, PolicyNetwork
from mlgo.policy.directory import load_policy
from mlgo.policy.graph import Exploration, PolicyGraph, build_graph
from mlgo.problems.problem import Problem
from mlgo.problems.tensor import LOG_TYPE_OF_NUMPY_NAME
from mlgo.run.determinism import derive_seed, generator
from mlgo.run.exit_codes import RunError
from mlgo.run.files import write_atomically, write_temporary

MODEL_FILE = "model.tflite"
OUTPUT_SPEC_FILE = "output_spec.json"

#: Types from which TensorFlow Lite's converter makes no float32 (TensorFlow 2.19).
_WITHOUT_CAST = frozenset(("float64", "uint16", "uint64"))

#: Stand-ins for the two seeds of the random operation: numbers that occur nowhere else in a model.
_SEED_STAND_INS = (0x6D6C676F5EED0001, 0x6D6C676F5EED0002)
#: Stand-in for the deviation of a number's noise, as unlikely to occur elsewhere as 4 bytes can be; a float32.
_DEVIATION_STAND_IN = struct.unpack("<f", bytes.fromhex("a7c35b3d"))[0]


class TfliteTemplate:
    """A converted policy whose weights (and seeds) can be replaced.

    Args:
      network: what the policy looks at, and the sizes of the layers; its weights do not matter.
      exploring: whether decisions are drawn (graph.py) instead of being greedy.

    Raises: RunError: the policy looks at a feature of a type that TensorFlow Lite does not convert.
    """

    def __init__(self, network: PolicyNetwork, problem: Problem, exploring: bool):
        self.exploring = exploring
        self._sizes = layer_sizes_of(exact_network(network.weights))
        stand_in = _stand_in_network(self._sizes)
        exploration = Exploration(_SEED_STAND_INS, _DEVIATION_STAND_IN) if exploring else None
        graph = build_graph(problem, network.normalizer, stand_in, exploration)
        for feature, tensor in graph.inputs.items():
            if tensor.dtype.name in _WITHOUT_CAST:
                log_type = LOG_TYPE_OF_NUMPY_NAME[tensor.dtype.name]
                raise RunError(
                    f"the feature {feature} of {problem.name}",
                    f"is of the type {log_type}, which TensorFlow Lite does not convert",
                    "Let the compiler log it as float, int32_t or int64_t, or train without it",
                )
        self._bytes = converted_model(graph)
        patterns = {}
        for index, layer in enumerate(stand_in.hidden):
            # TensorFlow Lite keeps the kernel of a fully connected layer as [outputs, inputs].
            patterns[f"kernel {index}"] = layer.kernel.T.tobytes()
            patterns[f"bias {index}"] = layer.bias.tobytes()
        patterns["logits"] = stand_in.logits.T.tobytes()
        if exploring:
            patterns |= {f"seed {index}": struct.pack("<q", seed) for index, seed in enumerate(_SEED_STAND_INS)}
        self._has_deviation = exploring and problem.decision_kind == "continuous"
        if self._has_deviation:
            patterns["deviation"] = struct.pack("<f", _DEVIATION_STAND_IN)
        self._offsets = {}
        for name, pattern in patterns.items():
            if self._bytes.count(pattern) != 1:
                raise RuntimeError(
                    f"the converted model holds {name} {self._bytes.count(pattern)} times instead of once; "
                    f"this version of TensorFlow ({tf.__version__}) converts the graph in another way"
                )
            self._offsets[name] = self._bytes.index(pattern)

    def model(
        self, network: ExactNetwork, exploration_seed: int | None = None, deviation: float = DEFAULT_DEVIATION
    ) -> bytes:
        """The model with these weights; `exploration_seed`: for exploring templates only.

        Args: deviation: of the noise of numbers (`Exploration.deviation`); ignored where there is none.
        Raises: ValueError: a seed where there is none to set, or none where one is needed, or another network's shape.
        """
        if (exploration_seed is not None) != self.exploring:
            raise ValueError(f"exploration_seed={exploration_seed} for a template with exploring={self.exploring}")
        if layer_sizes_of(network) != self._sizes:
            raise ValueError(f"network of sizes {layer_sizes_of(network)} for a template of sizes {self._sizes}")
        model = bytearray(self._bytes)

        def write(name: str, content: bytes) -> None:
            model[self._offsets[name] : self._offsets[name] + len(content)] = content

        for index, layer in enumerate(network.hidden):
            write(f"kernel {index}", np.ascontiguousarray(layer.kernel.T).tobytes())
            write(f"bias {index}", layer.bias.tobytes())
        write("logits", np.ascontiguousarray(network.logits.T).tobytes())
        if exploration_seed is not None:
            for index in range(2):
                write(f"seed {index}", struct.pack("<q", derive_seed(exploration_seed, "tflite", index)))
        if self._has_deviation:
            write("deviation", struct.pack("<f", deviation))
        return bytes(model)


def layer_sizes_of(network: ExactNetwork) -> tuple[int, ...]:
    return tuple(layer.kernel.shape[0] for layer in network.hidden) + network.logits.shape


def write_model(
    folder: str | os.PathLike[str], problem: Problem, model: bytes, temporary: bool = False
) -> pathlib.Path:
    """A directory for LLVM's model flag of `problem`; returns it. `temporary` ones are not flushed to disk."""
    folder = pathlib.Path(folder)
    action = problem.action_spec
    # The decision is the model's only output.
    shape, log_type = list(action.shape), LOG_TYPE_OF_NUMPY_NAME[action.dtype]
    output = {"name": action.name, "port": 0, "type": log_type, "shape": shape}
    spec = json.dumps([{"logging_name": action.name, "tensor_spec": output}], sort_keys=True)
    write = write_temporary if temporary else write_atomically
    write(folder / MODEL_FILE, model)
    write(folder / OUTPUT_SPEC_FILE, f"{spec}\n".encode())
    return folder


def convert(policy_dir: str | os.PathLike[str], out_dir: str | os.PathLike[str], problem: Problem) -> pathlib.Path:
    """From a policy that `save_policy` wrote to a directory for the development clang, greedy; returns it."""
    network, _ = load_policy(policy_dir, problem)
    model = TfliteTemplate(network, problem, exploring=False).model(exact_network(network.weights))
    return write_model(out_dir, problem, model)


def _stand_in_network(layer_sizes: tuple[int, ...]) -> ExactNetwork:
    """Weights that are all different and none of which is 0 or 1, so that the converter can simplify nothing."""
    arrays = []
    for index, shape in enumerate(zip(layer_sizes, layer_sizes[1:])):
        kernel = generator(0, "stand-in kernel", index).uniform(0.1, 0.9, shape).astype(np.float32)
        bias = generator(0, "stand-in bias", index).uniform(0.1, 0.9, shape[1]).astype(np.float32)
        arrays.append(ExactLayer(kernel, bias))
    return ExactNetwork(tuple(arrays[:-1]), arrays[-1].kernel)


def converted_model(policy: PolicyGraph) -> bytes:
    """The TFLite model of a graph without variables, with LLVM's tensor names, and without what the converter says
    about itself.

    Raises: RuntimeError: the converter does not number the inputs 0, 1, ...; any of the converter's.
    """
    with tf.compat.v1.Session(graph=policy.graph) as session:
        inputs = list(policy.inputs.values())
        converter = tf.compat.v1.lite.TFLiteConverter.from_session(session, inputs, [policy.output])
        converter.target_spec.supported_ops = [tf.lite.OpsSet.TFLITE_BUILTINS]
        model = converter.convert()
    unpacked = schema.ModelT.InitFromObj(schema.Model.GetRootAs(model, 0))
    (subgraph,) = unpacked.subgraphs
    names = [tensor.op.name for tensor in policy.inputs.values()]
    if list(subgraph.inputs) != list(range(len(names))) or len(subgraph.outputs) != 1:
        raise RuntimeError(f"the converted model has inputs {list(subgraph.inputs)}, outputs {list(subgraph.outputs)}")
    for index, tensor in enumerate(subgraph.tensors):
        # Names of inner tensors say how the converter worked and nothing else.
        tensor.name = f"{names[index]}:0" if index < len(names) else f"t{index}"
    subgraph.tensors[subgraph.outputs[0]].name = f"{policy.output.op.name}:0"
    subgraph.name, unpacked.description = "main", "mlgo"
    unpacked.metadata, unpacked.signatureDefs = None, None

    builder = flatbuffers.Builder(len(model))
    builder.Finish(unpacked.Pack(builder), b"TFL3")
    return bytes(builder.Output())
