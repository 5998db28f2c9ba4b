"""The cost of compiling with a policy: CPU time, memory and size of a release clang, against the packaged clang.

Every module of the held-out half of the built-in corpus is compiled by each compiler in turns (A B C C B A ...), as a
process of its own, and its fastest run counts: other programs only ever make a run slower. Ratios are of sums over
all modules; their interval is a bootstrap over modules.

- The packaged clang is dynamically linked and starts later than ours, so there are rows against ours without a policy
  as well.
- Eviction at -O2 uses the shipped policy, whose other decisions are compiled too. Inlining at -Oz uses a policy that
  decides just as -Oz does, so the rows show the advisor and the policy and nothing of what a trained policy would
  inline.
"""

import dataclasses
import os
import pathlib
import re
import tempfile
from collections.abc import Mapping, Sequence

import numpy as np

from mlgo.corpus.command import CompileCommand
from mlgo.corpus.corpus import Corpus, Module
from mlgo.problems.problem import load_problem
from mlgo.run import locate
from tests.benchmarks.row import Row, at_most

TURNS = 3
#: Issue 3, "Numbers": problem -> (level, CPU time against the packaged clang).
MOST_TIMES = {"regalloc_eviction": ("-O2", 1.01), "inlining_for_size": ("-Oz", 1.03)}
MOST_MEMORY_MB = 1.0
MOST_GROWTH_KB = 115.0

_LEVEL = re.compile(r"-O[0-3sz]")
_RESAMPLES = 2000


@dataclasses.dataclass(frozen=True)
class Variant:
    """A way of compiling: `clang` with cc1 `flags`."""

    name: str
    clang: pathlib.Path
    flags: tuple[str, ...] = ()


@dataclasses.dataclass(frozen=True)
class Cost:
    """What one compile took: user and system CPU seconds, and the largest resident size in MB."""

    cpu_seconds: float
    memory_mb: float


def measure() -> list[Row]:
    """The rows of this benchmark; takes about ten minutes."""
    packaged, plain, both, three = (
        locate.runfile(f"tests/benchmarks/{name}").resolve()
        for name in ("packaged_clang", "clang_without_policies", "clang_with_policies", "clang_with_three")
    )
    rows = []
    for name, (level, most) in MOST_TIMES.items():
        # Each problem's own corpus: a policy for size decides in no function that was compiled for speed.
        label = load_problem(name).score.built_in_corpus + "_held_out"
        modules = Corpus.load(locate.runfile(label.removeprefix("//").replace(":", "/"))).modules
        variants = [
            Variant("packaged", packaged),
            Variant("plain", plain),
            Variant("policy", both, tuple(load_problem(name).release_flags())),
        ]
        costs = measure_costs(variants, modules, level)
        title = f"{name} at {level}"
        rows.append(
            at_most(f"{title}: CPU time against the packaged clang", cost_ratio(costs, "policy", "packaged"), "x", most)
        )
        low, high = ratio_interval(_times(costs["policy"]), _times(costs["packaged"]), seed=1)
        rows += [Row(f"{title}: the same, 95 % from", low, "x"), Row(f"{title}: the same, 95 % to", high, "x")]
        rows.append(
            Row(f"{title}: CPU time against our clang without policies", cost_ratio(costs, "policy", "plain"), "x")
        )
        more = np.median(_memory(costs["policy"]) - _memory(costs["packaged"]))
        rows.append(at_most(f"{title}: peak memory above the packaged clang", float(more), "MB", MOST_MEMORY_MB))
        more = np.median(_memory(costs["policy"]) - _memory(costs["plain"]))
        rows.append(Row(f"{title}: peak memory above our clang without policies", float(more), "MB"))
    growth = (three.stat().st_size - plain.stat().st_size) / 3 / 1000
    rows.append(at_most("clang grows per policy (mean of three)", growth, "KB", MOST_GROWTH_KB))
    return rows


def measure_costs(variants: Sequence[Variant], modules: Sequence[Module], level: str) -> dict[str, dict[str, Cost]]:
    """Variant name -> module name -> its cheapest compile, in CPU time and in memory apart."""
    costs: dict[str, dict[str, Cost]] = {variant.name: {} for variant in variants}
    with tempfile.TemporaryDirectory() as folder:
        for module in modules:
            for turn in range(TURNS):
                for variant in variants if turn % 2 == 0 else variants[::-1]:
                    cost = compile_once(variant, module, level, pathlib.Path(folder))
                    before = costs[variant.name].get(module.name, cost)
                    costs[variant.name][module.name] = Cost(
                        min(cost.cpu_seconds, before.cpu_seconds), min(cost.memory_mb, before.memory_mb)
                    )
    return costs


def compile_once(variant: Variant, module: Module, level: str, folder: pathlib.Path) -> Cost:
    """Compiles in `folder`.

    Raises: RuntimeError: the compiler fails; its messages are shown.
    """
    recorded = CompileCommand(level if _LEVEL.fullmatch(word) else word for word in module.command)
    command = recorded.arguments(str(module.bitcode_file()), str(folder / "module.o"), variant.flags)
    messages = folder / "messages"
    redirect = [(os.POSIX_SPAWN_OPEN, 2, messages, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)]
    process = os.posix_spawn(variant.clang, [str(variant.clang), *command], os.environ, file_actions=redirect)
    _, status, used = os.wait4(process, 0)
    if status:
        raise RuntimeError(f"{variant.name} {level} fails on {module.name}:\n{messages.read_text()[-2000:]}")
    return Cost(used.ru_utime + used.ru_stime, used.ru_maxrss / 1024)


def cost_ratio(costs: Mapping[str, Mapping[str, Cost]], one: str, other: str) -> float:
    """CPU seconds of the variant `one` over those of `other`, each summed over all modules."""
    return sum(_times(costs[one]).values()) / sum(_times(costs[other]).values())


def ratio_interval(times: Mapping[str, float], others: Mapping[str, float], seed: int) -> tuple[float, float]:
    """95 % interval of sum(times) / sum(others), both by module name, when other modules had been drawn."""
    names = sorted(times)
    pairs = np.array([[times[name], others[name]] for name in names])
    random = np.random.Generator(np.random.Philox(seed))
    sums = pairs[random.integers(0, len(names), (_RESAMPLES, len(names)))].sum(axis=1)
    low, high = np.percentile(sums[:, 0] / sums[:, 1], [2.5, 97.5])
    return float(low), float(high)


def _times(costs: Mapping[str, Cost]) -> dict[str, float]:
    return {name: cost.cpu_seconds for name, cost in costs.items()}


def _memory(costs: Mapping[str, Cost]) -> np.ndarray:
    return np.array([costs[name].memory_mb for name in sorted(costs)])
