"""What LLVM says about the functions of a module: the text of `opt -passes='print<func-properties>'`, read into numbers.

With `-enable-detailed-function-properties` there are about fifty properties of each function, else nine
(llvm/lib/Analysis/FunctionPropertiesAnalysis.cpp, FunctionPropertiesInfo::print, LLVM 22.1.8). The text goes to stderr, is
not escaped, and may be mixed with warnings: lines that are neither a function's name nor a property are passed over.
"""

import dataclasses
import re
from collections.abc import Sequence

import numpy as np

from mlgo.run.exit_codes import RunError

#: cc1 or opt flags that print the properties of all functions of a module.
OPT_FLAGS = ("-passes=print<func-properties>", "-enable-detailed-function-properties", "-disable-output")

_FUNCTION = re.compile(r"Printing analysis results of CFA for function '(.*)':")
_PROPERTY = re.compile(r"([A-Za-z][A-Za-z0-9]*): (-?[0-9]{1,18})")


@dataclasses.dataclass(frozen=True)
class FunctionProperties:
    """Properties of F functions.

    Attributes:
      functions: their names, in the order of the module.
      names: of the K properties, in LLVM's order.
      values: float64 [F, K], counts.
    """

    functions: tuple[str, ...]
    names: tuple[str, ...]
    values: np.ndarray

    def select(self, which: Sequence[int]) -> "FunctionProperties":
        return FunctionProperties(tuple(self.functions[index] for index in which), self.names, self.values[list(which)])


def parse_function_properties(text: str, what: str) -> FunctionProperties:
    """The functions in `text`, possibly none; `what` names its source in errors.

    Raises: RunError: a function has other properties than the first: the text is cut off or garbled.
    """
    functions: list[str] = []
    rows: list[dict[str, int]] = []
    for line in text.splitlines():
        if match := _FUNCTION.fullmatch(line):
            functions.append(match.group(1))
            rows.append({})
        elif rows and (match := _PROPERTY.fullmatch(line)):
            rows[-1][match.group(1)] = int(match.group(2))
    names = tuple(rows[0]) if rows else ()
    for function, row in zip(functions, rows):
        if tuple(row) != names or not row:
            differing = sorted(set(row) ^ set(names)) or ["the order"]
            raise RunError(
                f"function properties of {what}",
                f"{function!r} has other properties than {functions[0]!r} ({', '.join(differing[:3])})",
                f"Print them again: opt {' '.join(OPT_FLAGS)}",
            )
    values = np.array([list(row.values()) for row in rows], np.float64).reshape(len(rows), len(names))
    return FunctionProperties(tuple(functions), names, values)
