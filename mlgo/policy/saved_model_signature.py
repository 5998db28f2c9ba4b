"""Checks of a SavedModel that this project did not write, before TensorFlow runs any part of it.

tf-agents' PolicySaver adds the inputs `discount`, `reward` and `step_type`, which LLVM leaves at zero, and outputs such
as logits. `reduce_signature` makes the inputs constants and drops the outputs.

NaN is rejected everywhere: comparisons with it are false, so such a policy decides silently, and perhaps differently in
each runtime. Infinity is rejected in trained weights (variables) and among the numbers of a frozen matrix. It is
accepted where graphs use it on purpose: in a scalar, in a vector (outer bounds of buckets) and in a constant with no
other value (the fill of masked positions).
"""

import graphlib
import pathlib
from collections.abc import Iterable, Iterator, Mapping

import numpy as np

from mlgo.policy.checks import FEATURE_REMEDY, features_fault
from mlgo.problems.problem import Problem
from mlgo.problems.tensor import TensorSpec
from mlgo.run.exit_codes import RunError

TAG = "serve"
SIGNATURE = "action"
#: Inputs that tf-agents adds to the features.
STEP_INPUTS = ("discount", "reward", "step_type")

#: Operations that a policy consists of: arithmetic on tensors, and reading its variables. Others may read or write
#: files or run code.
_ALLOWED = frozenset(
    """
    Abs Add AddN AddV2 All Any ArgMax ArgMin BiasAdd BroadcastArgs BroadcastTo Bucketize Cast Ceil ClipByValue Concat
    ConcatV2 Const Cumsum DisableCopyOnRead Elu EnsureShape Equal Exp ExpandDims Fill Floor FloorDiv FloorMod Gather
    GatherNd GatherV2 Gelu Greater GreaterEqual Identity IdentityN IsFinite IsInf IsNan L2Loss LeakyRelu Less LessEqual
    Log Log1p LogSoftmax LogicalAnd LogicalNot LogicalOr MatMul BatchMatMul BatchMatMulV2 Max Maximum Mean Min Minimum
    Mod Mul Neg NoOp NotEqual OneHot OnesLike Pack Pad PadV2 PartitionedCall Placeholder PlaceholderWithDefault Pow Prod
    Range Rank ReadVariableOp RealDiv Reciprocal Relu Relu6 Reshape ReverseV2 Round Rsqrt ScatterNd Select SelectV2
    Selu Shape Sigmoid Sign Size Slice Softmax Softplus Softsign Split SplitV Sqrt Square SquaredDifference Squeeze
    StatefulPartitionedCall StopGradient StridedSlice Sub Sum Tanh Tile TopKV2 Transpose TruncateDiv Unpack VarHandleOp
    Where ZerosLike ResourceGather
    """.split()
)
#: What restoring the variables needs besides.
_RESTORES = frozenset(("AssignVariableOp", "RestoreV2"))
#: A policy of the papers' sizes has a few hundred.
_MOST_OPERATIONS = 100_000
#: Operations that draw decisions: a policy that is still exploring.
_DRAWS = ("Multinomial", "Random", "StatelessRandom", "StatelessMultinomial", "StatefulRandom", "TruncatedNormal")


def signature_mismatch(
    inputs: Mapping[str, tuple[str, tuple[int, ...]]],
    outputs: Mapping[str, tuple[str, tuple[int, ...]]],
    problem: Problem,
) -> str | None:
    """Why a compiler cannot use a signature for `problem`, as a clause; None if it can.

    Args: name -> (numpy dtype name, shape) of the signature's inputs and outputs; an unknown size is -1.
    """
    known = {spec.name: spec for spec in problem.observation_specs}
    if memory := [name for name in sorted(inputs) if name.startswith(("network_state", "policy_state"))]:
        return f"has a memory ({', '.join(memory)}), and LLVM asks for every decision by itself"
    if clause := features_fault(tuple(sorted(inputs)), problem):
        return clause
    for name in sorted(inputs):
        if clause := _mismatch(inputs[name], known[name]):
            return f"has the input {name!r} {clause}"
    if problem.mask_feature is not None and problem.mask_feature not in inputs:
        return f"ignores {problem.mask_feature!r}, so its decisions could be forbidden ones"
    if sorted(outputs) != [problem.action_spec.name]:
        return f"has the outputs {sorted(outputs)} instead of {[problem.action_spec.name]}"
    if clause := _mismatch(outputs[problem.action_spec.name], problem.action_spec):
        return f"has the output {problem.action_spec.name!r} {clause}"
    return None


def _mismatch(found: tuple[str, tuple[int, ...]], wanted: TensorSpec) -> str | None:
    if found == (wanted.dtype, wanted.shape):
        return None
    batch = "; tf-agents' PolicySaver needs batch_size=1" if -1 in found[1] else ""
    return f"as {found[0]}{list(found[1])} instead of {wanted.dtype}{list(wanted.shape)}{batch}"


def read_checked(policy: pathlib.Path, problem: Problem, remedy: str):
    """The MetaGraphDef of the SavedModel in `policy`, with only features as inputs, the decision as output, and what
    they need.

    Args: remedy: what to do about a policy that is not usable.
    Raises: RunError: it is no SavedModel, not one of a policy for `problem`, has weights that are NaN or infinite, or
      operations that are not arithmetic.
    """
    from tensorflow.python.tools import saved_model_utils  # Slow to import.

    what = f"the policy {policy / 'saved_model.pb'}"
    try:
        meta_graph = saved_model_utils.get_meta_graph_def(str(policy), TAG)
    except Exception as error:  # The reader raises exceptions of many types; all mean the same here.
        raise RunError(what, f"cannot be read as a SavedModel ({one_line(error)})", remedy) from error
    if SIGNATURE not in meta_graph.signature_def:
        found = sorted(meta_graph.signature_def)
        raise RunError(what, f"has no signature {SIGNATURE!r} (only {found})", remedy)
    reduce_signature(meta_graph, problem)
    signature = meta_graph.signature_def[SIGNATURE]
    if clause := signature_mismatch(_described(signature.inputs), _described(signature.outputs), problem):
        lacking = features_fault(tuple(signature.inputs), problem) is not None and "memory" not in clause
        raise RunError(what, clause, FEATURE_REMEDY if lacking else remedy)
    if clause := graph_fault(meta_graph.graph_def) or _remove_unchecked(meta_graph):
        raise RunError(what, clause, remedy)
    variables = policy / "variables" / "variables"
    if clause := variables_fault(meta_graph.graph_def, variables):
        raise RunError(f"the policy's weights {variables}.*", clause, remedy)
    return meta_graph


def reduce_signature(meta_graph, problem: Problem) -> None:
    """Replaces tf-agents' inputs by zeros, as LLVM leaves them, and drops all outputs but the decision."""
    import tensorflow as tf

    signature = meta_graph.signature_def[SIGNATURE]
    nodes = {node.name: node for node in meta_graph.graph_def.node}
    features = {spec.name for spec in problem.observation_specs}
    for name in STEP_INPUTS:
        if name not in signature.inputs or name in features:
            continue
        info = signature.inputs[name]
        node = nodes.get(info.name.partition(":")[0])
        if node is None or node.op != "Placeholder":
            continue
        dtype = tf.dtypes.as_dtype(info.dtype)
        zeros = tf.zeros([max(dimension.size, 1) for dimension in info.tensor_shape.dim], dtype).numpy()
        node.op = "Const"
        node.attr.clear()
        node.attr["dtype"].type = info.dtype
        node.attr["value"].tensor.CopyFrom(tf.make_tensor_proto(zeros))
        del signature.inputs[name]
    if problem.action_spec.name in signature.outputs:
        for name in [name for name in signature.outputs if name != problem.action_spec.name]:
            del signature.outputs[name]


def _remove_unchecked(meta_graph) -> str | None:
    """The first operation that TensorFlow would run and that is not allowed, as a clause; None: all are.

    TensorFlow computes the decision, restores the weights, and reads each variable by a node of its name. What none of
    these needs is not checked, and is removed.
    """
    graph, signature, saver = meta_graph.graph_def, meta_graph.signature_def[SIGNATURE], meta_graph.saver_def
    (output,) = signature.outputs.values()
    decides = _below(graph, [output.name])
    for operation in _operations(graph, *decides):
        if operation.startswith(_DRAWS):
            return f"draws its decisions ({operation}), as a saved_collect_policy does; the greedy one is saved_policy"
        if operation not in _ALLOWED:
            return f"has the operation {operation}, which is not known to be arithmetic only"
    reads = [f"{node.name}/Read/ReadVariableOp" for node in graph.node if node.op == "VarHandleOp"]
    inputs = [info.name for info in signature.inputs.values()]
    restores = _below(graph, [saver.restore_op_name, saver.filename_tensor_name, *reads, *inputs])
    if clause := endless_calls(graph, *decides) or endless_calls(graph, *restores):
        return clause
    for operation in _operations(graph, *restores):
        if operation not in _ALLOWED | _RESTORES:
            return f"restores its weights with the operation {operation}, which may do more"
    nodes, functions = (left | right for left, right in zip(decides, restores))
    for parts, kept in ((graph.node, nodes), (graph.library.function, functions)):
        for index in reversed(range(len(parts))):
            if _name(parts[index]) not in kept:
                del parts[index]
    for name in [name for name in meta_graph.signature_def if name != SIGNATURE]:
        del meta_graph.signature_def[name]
    meta_graph.ClearField("collection_def")
    return None


def _below(graph, tensors: Iterable[str]) -> tuple[set[str], set[str]]:
    """Names of the nodes and of the functions on which `tensors` depend."""
    nodes, functions = ({_name(part): part for part in parts} for parts in (graph.node, graph.library.function))
    seen: set[str] = set()
    called: set[str] = set()
    waiting = [_node_of(tensor) for tensor in tensors]
    while waiting:
        name = waiting.pop()
        if name in seen or name not in nodes:
            continue
        seen.add(name)
        called.update(_functions_of(nodes[name]))
        waiting += map(_node_of, nodes[name].input)
    called &= functions.keys()
    left = list(called)
    while left:
        for node in functions[left.pop()].node_def:
            new = (set(_functions_of(node)) & functions.keys()) - called
            called |= new
            left += new
    return seen, called


def endless_calls(graph, nodes: set[str], functions: set[str]) -> str | None:
    """Why TensorFlow, which puts functions in the place of their calls, would not end with these; None: it does."""
    found = {function.signature.name: function.node_def for function in graph.library.function}
    calls = {name: [called for node in found[name] for called in _functions_of(node)] for name in functions}
    sizes: dict[str, int] = {}
    try:
        for name in graphlib.TopologicalSorter(calls).static_order():
            own = sum(sizes[called] for called in calls.get(name, ()))
            sizes[name] = min(len(found.get(name, ())) + own, _MOST_OPERATIONS + 1)
    except graphlib.CycleError:
        return "has functions that call each other in a circle"
    called = (name for node in graph.node if node.name in nodes for name in _functions_of(node))
    if sum(sizes.get(name, 0) for name in called) > _MOST_OPERATIONS:
        return f"has calls of functions that stand for more than {_MOST_OPERATIONS:,} operations"
    return None


def _operations(graph, nodes: set[str], functions: set[str]) -> list[str]:
    """What these nodes and functions do, sorted."""
    found = {node.op for node in graph.node if node.name in nodes}
    for function in graph.library.function:
        if _name(function) in functions:
            found.update(node.op for node in function.node_def)
    return sorted(found)


def _name(part) -> str:
    return part.signature.name if hasattr(part, "signature") else part.name


def _node_of(tensor: str) -> str:
    return tensor.removeprefix("^").partition(":")[0]


def _functions_of(node) -> Iterator[str]:
    yield node.op  # A function may be an operation of its own name.
    for value in node.attr.values():
        if value.func.name:
            yield value.func.name
        for function in value.list.func:
            yield function.name


def _described(tensors) -> dict[str, tuple[str, tuple[int, ...]]]:
    """(dtype name, shape) of each TensorInfo of one side of a signature."""
    import tensorflow as tf

    return {
        name: (tf.dtypes.as_dtype(info.dtype).name, tuple(dimension.size for dimension in info.tensor_shape.dim))
        for name, info in tensors.items()
    }


def values_fault(name: str, values: np.ndarray, trained: bool) -> str | None:
    """What is wrong with a trained weight or with a constant of a graph, as a clause; None when nothing is."""
    nan, infinite = int(np.isnan(values).sum()), int(np.isinf(values).sum())
    on_purpose = not trained and (values.ndim < 2 or infinite == values.size)
    if not nan and (not infinite or on_purpose):
        return None
    count, what = (nan, "NaN") if nan else (infinite, "infinite")
    return f"has the tensor {name!r} of shape {list(values.shape)} with {count} values that are {what}"


def graph_fault(graph_def) -> str | None:
    """The first fault among the constants of a GraphDef and of its functions, as a clause; None when there is none."""
    import tensorflow as tf

    for node in _all_nodes(graph_def):
        if node.op == "Const":
            tensor = node.attr["value"].tensor
            if tf.dtypes.as_dtype(tensor.dtype).is_floating:
                values = tf.make_ndarray(tensor).astype(np.float64)
                if clause := values_fault(node.name, values, trained=False):
                    return clause
    return None


def variables_fault(graph_def, prefix: pathlib.Path) -> str | None:
    """The first fault among the variables saved under `prefix`, as a clause; None when there is none or no variable."""
    import tensorflow as tf

    if not any(node.op in ("VarHandleOp", "VariableV2") for node in _all_nodes(graph_def)):
        return None
    try:
        reader = tf.train.load_checkpoint(str(prefix))
        types = reader.get_variable_to_dtype_map()
        weights = {name: reader.get_tensor(name) for name in sorted(types) if types[name].is_floating}
    except Exception as error:  # Missing, truncated, another format: the reader has a type of its own for each.
        return f"cannot be read ({one_line(error)})"
    for name, values in weights.items():
        name = name.removesuffix("/.ATTRIBUTES/VARIABLE_VALUE")
        if clause := values_fault(name, values.astype(np.float64), trained=True):
            return clause
    return None


def _all_nodes(graph_def) -> list:
    return [*graph_def.node, *(node for function in graph_def.library.function for node in function.node_def)]


def one_line(error: Exception) -> str:
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    return lines[0] if lines else type(error).__name__
