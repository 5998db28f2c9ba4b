"""Code size as a score, recorded function by function (mlgo/compiler/code_size.py reads the object)."""

import numpy as np

from mlgo.compiler.code_size import ObjectCode
from mlgo.compiler.training_log import TrainingLog
from mlgo.score.function_scores import FunctionScore

#: Name under which a module's bytes that belong to no function are recorded: padding, constants, .eh_frame.
NON_FUNCTION_BYTES = ""


def code_scores(code: ObjectCode, log: TrainingLog | None) -> dict[str, FunctionScore]:
    """Function -> its size in bytes and the decisions taken in it; what is left of the object's text stands under NON_FUNCTION_BYTES."""
    decisions = {} if log is None else decisions_by_caller(log)
    scores = {f.name: FunctionScore(decisions.pop(f.name, 0), float(f.size), f.comdat) for f in code.functions}
    rest = code.text_bytes - sum(function.size for function in code.functions)
    # So do decisions in functions that are gone at the end.
    return {**scores, NON_FUNCTION_BYTES: FunctionScore(sum(decisions.values()), float(rest))}


def decisions_by_caller(log: TrainingLog) -> dict[str, int]:
    """How many decisions were taken in each function."""
    counts: dict[str, int] = {}
    for name, count in zip(log.contexts, np.bincount(log.observation_context, minlength=len(log.contexts)).tolist()):
        caller = call_site(name)[0]
        counts[caller] = counts.get(caller, 0) + count
    return {caller: count for caller, count in counts.items() if count}


def call_site(context: str) -> tuple[str, str]:
    """(caller, callee) of a context's name (patches/llvm/inlining_log_namescall_sites.patch)."""
    caller, _, callee = context.partition("\n")
    return caller, callee
