"""Results of made-up searches."""

import dataclasses
import pathlib

from mlgo.evaluation.statistics import summarize, summarize_totals
from mlgo.evaluation.weighted_sum import ScorePair, weighted_sum
from mlgo.reporting.testing.made_up import CLANG, HOSTILE, SEED
from mlgo.run import files


def write_tuning(folder: pathlib.Path, *, cut: bool = True, budget: float | None = None) -> None:
    """A search. Args: cut: whether compiles ended one of its searches; budget: of the command."""
    summed = summarize_totals({f"m{i}.c": (95 + i % 4, 100) for i in range(40)}, SEED)
    assert summed is not None  # There are modules.
    summary = dataclasses.asdict(summed)
    tries = ["all calls of g: inlined", f"the call of {HOSTILE} in f: the other way"]
    largest = {"module": "m0.c", "untried": 12, "untried_compiles": 5, "next_tries": tries}
    content = {
        "kind": "tuning",
        "problem": "inlining_for_size",
        "reward": "comdat_weighted_code",
        "compiles_limit": 70,
        "budget": budget,
        "clang": CLANG,
        "corpus": "a" * 64,
        "policies": {"policy": "e1" * 32},
        "seed": SEED,
        "icf": False,
        "modules": 40,
        "compiles": 200,
        "linked_code_bytes": {"default": 400, "policy": 398, "tuned": 386},
        "change": {"default": summary, "policy": summary},
        "modules_of_the_start": [],
        "left_out": [],
        "curve": [[0, 400.0, 0.0], [1, 398.0, -0.005], [20, 386.0, -0.035]],
        "gains": [{"module": HOSTILE, "start": 100.0, "best": 95.0}, {"module": "empty.c", "start": 0.0, "best": 0.0}],
        "cut": {"modules": int(cut), "untried": 12, "untried_compiles": 5, "largest": [largest] if cut else []},
    }
    files.write_json_atomically(folder / "result.json", content)


def write_eviction_tuning(folder: pathlib.Path, *, gaining: bool = True) -> None:
    """A search for evictions. Args: gaining: whether it found anything better than the default."""
    share = 0.05 if gaining else 0.0
    names = [f"m{module}.c" for module in range(20)]
    ratios = {
        name: [1.0 - share - 0.005 * ((number + index) % 4) * gaining for index in range(3)]
        for number, name in enumerate(names)
    }
    pairs = [
        ScorePair(name, HOSTILE if index else "hot", 1000.0 / (1 + index), ratio * 1000.0 / (1 + index))
        for name, found in ratios.items()
        for index, ratio in enumerate(found)
    ]
    mean, summed = summarize(ratios, SEED), weighted_sum(pairs, SEED)
    assert mean is not None and summed is not None  # There are pairs.
    gain = {"module": "m0.c", "function": HOSTILE, "start": 8.0, "best": 4.0}
    content = {
        "kind": "eviction_tuning",
        "problem": "regalloc_eviction",
        "tries_limit": 24,
        "budget": None,
        "clang": CLANG,
        "corpus": "a" * 64,
        "policies": {"policy": "e1" * 32},
        "seed": SEED,
        "modules": 21,
        "modules_with_decisions": 20,
        "functions": 60,
        "live_ranges": 180,
        "tries": 1440,
        "gaining_at_the_end": 3,
        "change": {"found against default": dataclasses.asdict(mean)},
        "sums": {"found against default": summed.to_json()},
        "curve": [[1, 1.0, 1.0], [2, 0.98, 0.97], [24, 0.945, 0.925]] if gaining else [[1, 1.0, 1.0], [24, 1.0, 1.0]],
        "gains": [gain, {**gain, "start": 0.0, "best": 0.0}] if gaining else [],
        "left_out": {HOSTILE: "another module has this source"},
    }
    files.write_json_atomically(folder / "result.json", content)
