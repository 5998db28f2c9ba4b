"""Display names of corpora and sides."""

from mlgo.evaluation.corpora.inline_thresholds import threshold_of


def corpus_title(name: str) -> str:
    """ "llvm held out" for "llvm_held_out"."""
    return name.replace("_", " ")


def side_title(name: str) -> str:
    """ "-inline-threshold=25" for "threshold_25"."""
    threshold = threshold_of(name)
    return f"-inline-threshold={threshold}" if threshold is not None else name.replace("_", " ")
