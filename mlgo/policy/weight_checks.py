"""Finds NaN and infinite weights in a SavedModel before it is compiled.

NaN is rejected everywhere: comparisons with it are false, so such a policy decides silently, and perhaps differently in
each runtime. Infinity is rejected in trained weights (variables) and among the numbers of a frozen matrix. It is
accepted where graphs use it on purpose: in a scalar, in a vector (outer bounds of buckets) and in a constant with no
other value (the fill of masked positions).
"""

import pathlib

import numpy as np


def constant_fault(name: str, values: np.ndarray) -> str | None:
    """What is wrong with a constant of a graph, as a clause; None when nothing is."""
    if clause := _not_a_number(name, values):
        return clause
    infinite = int(np.isinf(values).sum())
    if values.ndim >= 2 and 0 < infinite < values.size:
        return _holds(name, infinite, values, "infinite")
    return None


def variable_fault(name: str, values: np.ndarray) -> str | None:
    """What is wrong with a trained weight, as a clause; None when nothing is."""
    if clause := _not_a_number(name, values):
        return clause
    infinite = int(np.isinf(values).sum())
    return _holds(name, infinite, values, "infinite") if infinite else None


def _not_a_number(name: str, values: np.ndarray) -> str | None:
    count = int(np.isnan(values).sum())
    return _holds(name, count, values, "NaN") if count else None


def _holds(name: str, count: int, values: np.ndarray, what: str) -> str:
    return f"has the tensor {name!r} of shape {list(values.shape)} with {count} values that are {what}"


def graph_fault(graph_def) -> str | None:
    """The first fault among the constants of a GraphDef and of its functions, as a clause; None when there is none."""
    import tensorflow as tf

    nodes = list(graph_def.node)
    for function in graph_def.library.function:
        nodes.extend(function.node_def)
    for node in nodes:
        if node.op == "Const":
            tensor = node.attr["value"].tensor
            if tf.dtypes.as_dtype(tensor.dtype).is_floating:
                if clause := constant_fault(node.name, tf.make_ndarray(tensor).astype(np.float64)):
                    return clause
    return None


def variables_fault(graph_def, prefix: pathlib.Path) -> str | None:
    """The first fault among the variables saved under `prefix`, as a clause; None when there is none or no variable."""
    import tensorflow as tf

    functions = [node for function in graph_def.library.function for node in function.node_def]
    if not any(node.op in ("VarHandleOp", "VariableV2") for node in [*graph_def.node, *functions]):
        return None
    try:
        reader = tf.train.load_checkpoint(str(prefix))
        types = reader.get_variable_to_dtype_map()
        weights = {name: reader.get_tensor(name) for name in sorted(types) if types[name].is_floating}
    except Exception as error:  # Missing, truncated, another format: the reader has a type of its own for each.
        lines = str(error).splitlines()
        return f"cannot be read ({lines[0] if lines else type(error).__name__})"
    for name, values in weights.items():
        if clause := variable_fault(name.removesuffix("/.ATTRIBUTES/VARIABLE_VALUE"), values.astype(np.float64)):
            return clause
    return None
