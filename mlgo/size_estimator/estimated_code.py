"""Estimates the code of a module from its optimised IR: a reward without code generation.

`print<func-properties>` does not print COMDATs, which contain most functions of a C++ module and of which a linker
keeps one copy. The same run of opt therefore prints the module too, whose `define` lines name them
(llvm/docs/LangRef.rst, "Functions").
"""

import pathlib
import re

from mlgo.compiler.code_size import FunctionCode, ObjectCode
from mlgo.run.exit_codes import RunError
from mlgo.size_estimator.estimator import SizeEstimator
from mlgo.size_estimator.properties import properties_and_text

_NAME = r'"[^"\n]*"|[-\w$.]+'
_DEFINITION = re.compile(rf"^define ([^@\n]*)@({_NAME})(\(.*)$", re.MULTILINE)
_COMDAT = re.compile(rf" comdat(?:\(\$({_NAME})\))?(?= )")
# The quoted text of sections and attributes is no keyword. A COMDAT's own quoted name follows a `$`.
_QUOTED = re.compile(r'(?<!\$)"[^"\n]*"')
_ESCAPED = re.compile(rb"\\([0-9A-Fa-f]{2})")


class EstimatedCode:
    """Estimates the code of optimised bitcode. Args: opt: of the LLVM that made the bitcode."""

    def __init__(self, estimator: SizeEstimator, opt: pathlib.Path):
        self._estimator, self._opt = estimator, opt

    def __call__(self, bitcode: bytes, name: str) -> ObjectCode:
        """The functions of module `name` that an object would have, without padding and data.

        Their sizes are whole bytes, at least 1, so that machines whose exponential function differs in the last bit
        agree. Raises: RunError: opt cannot read it, or says something else than what the estimator was trained with.
        """
        properties, text = properties_and_text(bitcode, name, self._opt)
        comdats = comdats_by_function(text)
        if unknown := sorted(properties.keys() - comdats.keys() - available_elsewhere(text)):
            wrong = f"has no definition of {unknown[0]!r}, of which opt says properties"
            raise RunError(f"optimised bitcode of {name}", wrong, "Use opt of LLVM 22")
        defined = {function: properties[function] for function in sorted(comdats.keys() & properties)}
        sizes = self._estimator.estimate_functions(defined)
        functions = tuple(FunctionCode(each, max(1, round(size)), comdats[each]) for each, size in sizes.items())
        total = sum(function.size for function in functions)
        return ObjectCode(functions, code_bytes=total, text_bytes=total)


def comdats_by_function(text: str) -> dict[str, str | None]:
    """function -> the signature of its COMDAT, or None, for all functions of a printed module that give code."""
    found: dict[str, str | None] = {}
    for linkage, quoted, rest in _DEFINITION.findall(text):
        if not _is_elsewhere(linkage):
            name = _unquoted(quoted)
            comdat = _COMDAT.search(_QUOTED.sub('""', rest))
            # Without a name it is the function's own.
            found[name] = None if comdat is None else _unquoted(comdat[1]) if comdat[1] else name
    return found


def available_elsewhere(text: str) -> set[str]:
    """The functions with a body in another module: they can be inlined and give no code."""
    return {_unquoted(name) for linkage, name, _ in _DEFINITION.findall(text) if _is_elsewhere(linkage)}


def _is_elsewhere(linkage: str) -> bool:
    return "available_externally" in linkage.split()


def _unquoted(name: str) -> str:
    r"""A name as in symbol tables: LLVM quotes unusual names and writes `"` and other bytes as `\22`."""
    if not name.startswith('"'):
        return name
    content = name[1:-1].encode("utf-8", "surrogateescape")
    return _ESCAPED.sub(lambda match: bytes.fromhex(match[1].decode()), content).decode("utf-8", "surrogateescape")
