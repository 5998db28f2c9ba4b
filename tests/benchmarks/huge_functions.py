"""Compiling huge functions with the eviction policy: does it take longer the larger a function is, as by default?

A policy may evict the same live ranges again and again, which LLVM bounds by -mlregalloc-max-eviction-count. Functions
without branches, of 1,000 to 20,000 values, and two interpreters' loops are compiled at -O2 by the release clang
without and with the policy in turns; the cheapest compile counts.
"""

import pathlib
import random
import subprocess
import tempfile
from collections.abc import Callable

from mlgo.corpus.corpus import Corpus
from mlgo.problems.problem import load_problem
from mlgo.run import locate
from tests.benchmarks.compile_cost import Variant, compile_once
from tests.benchmarks.row import Row, at_most
from tests.benchmarks.turns import cheapest, cpu_seconds_of

SIZES = (1_000, 5_000, 20_000)
#: Corpus -> its module with the largest function: Lua's luaV_execute, sqlite's sqlite3VdbeExec.
INTERPRETERS = {"lua": "src/lvm.c", "sqlite": "src/vdbe.c"}
#: Issue 23, "Compile time stays bounded": growth as the default's; the rest is noise.
MOST_GROWTH = 1.1
_LEVEL = "-O2"
_DEFAULT, _POLICY = "default", "policy"
#: Operands of a value: one of the last so many, and any earlier one, so that many values live long.
_NEAR = 40
_ARGUMENTS = 16


def measure() -> list[Row]:
    """The rows of this benchmark; takes about two minutes."""
    clang = locate.runfile("tests/benchmarks/clang_with_policies").resolve()
    variants = [
        Variant(_DEFAULT, clang),
        Variant(_POLICY, clang, tuple(load_problem("regalloc_eviction").release_flags())),
    ]
    with tempfile.TemporaryDirectory() as folder:
        of_size = {size: _of_source(straight_line(size), variants, pathlib.Path(folder)) for size in SIZES}
        of_program = {name: _of_module(name, variants, pathlib.Path(folder)) for name in INTERPRETERS}
    return [
        *rows_of(of_size),
        *(Row(f"{INTERPRETERS[name]} of {name}", _ratio(of_program[name]), "x") for name in of_program),
    ]


def rows_of(seconds: dict[int, dict[str, float]]) -> list[Row]:
    """Rows of functions of several sizes. Args: seconds: values in the function -> variant -> CPU seconds."""
    rows = [Row(f"{size:,} values: CPU time with the policy", _ratio(seconds[size]), "x") for size in sorted(seconds)]
    growth = _ratio(seconds[max(seconds)]) / _ratio(seconds[min(seconds)])
    title = f"from {min(seconds):,} to {max(seconds):,} values: growth with the policy against the default's"
    return [*rows, at_most(title, growth, "x", MOST_GROWTH)]


def straight_line(size: int) -> str:
    """C source of a function without branches that computes `size` values of each other."""
    chance = random.Random(1)
    lines = [f"long v{index} = p[{index}];" for index in range(_ARGUMENTS)]
    for index in range(_ARGUMENTS, size):
        near, any_earlier = chance.randrange(max(0, index - _NEAR), index), chance.randrange(index)
        lines.append(f"long v{index} = v{near} {chance.choice('+-^*')} v{any_earlier};")
    result = " ^ ".join(f"v{chance.randrange(size)}" for _ in range(50))
    return "\n".join(["long f(const long *p) {", *lines, f"return {result};", "}\n"])


def _of_source(text: str, variants: list[Variant], folder: pathlib.Path) -> dict[str, float]:
    source = folder / "f.c"
    source.write_text(text, encoding="utf-8")

    def work(variant: Variant) -> Callable[[], object]:
        command = [str(variant.clang), _LEVEL, *variant.flags, "-c", str(source), "-o", str(folder / "f.o")]
        return lambda: subprocess.run(command, check=True)

    return cheapest({variant.name: work(variant) for variant in variants}, cpu_seconds_of)


def _of_module(corpus: str, variants: list[Variant], folder: pathlib.Path) -> dict[str, float]:
    name = INTERPRETERS[corpus]
    (module,) = Corpus.load(locate.runfile(f"mlgo/corpus/{corpus}")).select([name]).modules

    def work(variant: Variant) -> Callable[[], object]:
        return lambda: compile_once(variant, module, _LEVEL, folder)

    return cheapest({variant.name: work(variant) for variant in variants}, cpu_seconds_of)


def _ratio(seconds: dict[str, float]) -> float:
    return seconds[_POLICY] / seconds[_DEFAULT]
