"""Display names of corpora and sides."""

from mlgo.evaluation.sides import side_and_cost, threshold_of


def corpus_title(name: str) -> str:
    """ "llvm held out" for "llvm_held_out"."""
    return name.replace("_", " ")


def side_title(name: str) -> str:
    """ "-inline-threshold=25" for "threshold_25", "x, callee-saved registers cost 5" for "x_callee_saved_5"."""
    if (threshold := threshold_of(name)) is not None:
        return f"-inline-threshold={threshold}"
    if (parts := side_and_cost(name)) is not None:
        return f"{side_title(parts[0])}, callee-saved registers cost {parts[1]}"
    return name.replace("_", " ")
