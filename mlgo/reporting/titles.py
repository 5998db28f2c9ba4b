"""Display names of corpora and sides."""

from mlgo.evaluation.sides import side_and_cost, threshold_of


def corpus_title(name: str) -> str:
    """ "llvm held out" for "llvm_held_out"."""
    return name.replace("_", " ")


def side_title(name: str) -> str:
    """Such as "-inline-threshold=25" for "threshold_25"; of a side with a cost, the words say which and where."""
    if (threshold := threshold_of(name)) is not None:
        return f"-inline-threshold={threshold}"
    if (parts := side_and_cost(name)) is not None:
        side, cost = parts
        where = " in all functions" if cost.everywhere else ""
        return f"{side_title(side)}, callee-saved registers cost {cost.value}{where}"
    return name.replace("_", " ")
