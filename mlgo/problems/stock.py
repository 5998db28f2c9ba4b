"""A problem as a compiler without our patches has it: LLVM's own features only.

A policy for such a compiler must not look at what only our compilers compute: LLVM leaves the input of a feature that
it does not know at zero, without a message.
"""

import dataclasses
from typing import Any

#: The word after the "+" of a problem's name.
SETTING = "stock"


def for_stock_compilers(problem: Any) -> Any:
    """The `Problem` without our features, call sites in the log and files of decisions; its name ends with "+stock".

    Raises: ValueError: the problem has LLVM's features only, so it is that of stock compilers already.
    """
    if not problem.features_of_ours:
        raise ValueError(f"problem {problem.name}: has LLVM's own features only; leave out +{SETTING}")
    return dataclasses.replace(
        problem,
        name=f"{problem.folder}+{SETTING}",
        observation_specs=problem.interactive_specs(),
        features_of_ours=frozenset(),
        embeddings=(),
        context_flags=(),
        decisions_flag=None,
    )


def is_for_stock_compilers(problem: Any) -> bool:
    """Whether `problem` was made by `for_stock_compilers`."""
    return problem.name.endswith(f"+{SETTING}")
