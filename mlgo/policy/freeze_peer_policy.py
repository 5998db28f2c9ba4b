"""Converts the SavedModel of a policy that tf-agents saved to a model for LLVM's development mode.

    freeze_peer_policy --policy=DIR --problem=NAME --model=OUT.tflite

It runs in its own process, which TensorFlow's C++ code may abort, and limits its CPU time and memory: a graph of a few
operations can ask for tensors of any size. A fault of the policy is written to stdout as a JSON
list [subject, wrong, remedy].
"""

import argparse
import json
import pathlib
import resource
import sys
import tempfile

from mlgo.policy.graph import PolicyGraph
from mlgo.policy.saved_model_signature import SIGNATURE, one_line, read_checked
from mlgo.policy.tflite import converted_model
from mlgo.problems.problem import Problem, load_problem
from mlgo.run.exit_codes import ExitCode, RunError
from mlgo.run.files import write_atomically

#: A policy of the papers' sizes takes 20 s and 2 GB.
CPU_SECONDS = 600
_ADDRESS_SPACE_BYTES = 16 * 1024**3
REMEDY = "Name the folder saved_policy of a training with ml-compiler-opt, or the folder of a policy of ours"


def frozen_graph(policy: pathlib.Path, problem: Problem) -> PolicyGraph:
    """The policy as a graph of constants. Raises: RunError: as `read_checked`, or weights cannot be restored."""
    import tensorflow as tf  # Slow to import.
    from tensorflow.python.tools import saved_model_aot_compile

    meta_graph = read_checked(policy, problem, REMEDY)
    signature = meta_graph.signature_def[SIGNATURE]
    inputs = {name: info.name for name, info in signature.inputs.items()}
    (output,) = (info.name for info in signature.outputs.values())
    frozen = tf.compat.v1.GraphDef()
    with tempfile.TemporaryDirectory(prefix="mlgo_freeze_") as scratch:
        variables = str(policy / "variables" / "variables")
        try:
            path, _ = saved_model_aot_compile.freeze_model(variables, meta_graph, scratch, SIGNATURE, ())
        except Exception as error:  # Of many types; all mean that the policy is not usable.
            what = f"the policy {policy / 'saved_model.pb'}"
            raise RunError(what, f"cannot be frozen ({one_line(error)})", REMEDY) from error
        frozen.ParseFromString(pathlib.Path(path).read_bytes())
    graph = tf.Graph()
    with graph.as_default():
        tf.import_graph_def(frozen, name="")
        # Weights that a policy does not use take their inputs with them.
        names = {operation.name for operation in graph.get_operations()}
        kept = {
            spec.name: graph.get_tensor_by_name(inputs[spec.name])
            for spec in problem.observation_specs
            if spec.name in inputs and inputs[spec.name].partition(":")[0] in names
        }
        decision = tf.reshape(graph.get_tensor_by_name(output), problem.action_spec.shape)
        return PolicyGraph(graph, kept, tf.identity(decision, name=problem.action_spec.name))


def _limit(kind: int, value: int) -> None:
    _, hard = resource.getrlimit(kind)
    soft = value if hard == resource.RLIM_INFINITY else min(value, hard)
    resource.setrlimit(kind, (soft, hard))


def main(arguments: list[str]) -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--policy", type=pathlib.Path, required=True, help="directory of the SavedModel; absolute")
    parser.add_argument("--problem", required=True, help="folder below mlgo/problems")
    parser.add_argument("--model", type=pathlib.Path, required=True, help="TFLite model to write; absolute")
    flags = parser.parse_args(arguments)
    try:
        graph = frozen_graph(flags.policy, load_problem(flags.problem))
        try:
            model = converted_model(graph)
        except Exception as error:  # The converter raises exceptions of many types.
            wrong = f"cannot be converted to TensorFlow Lite ({one_line(error)})"
            raise RunError(f"the policy {flags.policy / 'saved_model.pb'}", wrong, REMEDY) from error
        write_atomically(flags.model, model)
    except RunError as error:
        json.dump([error.subject, error.wrong, error.remedy], sys.stdout)
        return error.exit_code
    return ExitCode.DONE


if __name__ == "__main__":
    _limit(resource.RLIMIT_CPU, CPU_SECONDS)
    _limit(resource.RLIMIT_AS, _ADDRESS_SPACE_BYTES)
    sys.exit(main(sys.argv[1:]))
