"""Results of made-up searches."""

import dataclasses
import pathlib

from mlgo.evaluation.statistics import summarize_totals
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
