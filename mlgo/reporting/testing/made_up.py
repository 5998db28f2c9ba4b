"""Invented results in the format of the real commands, for tests: small, deterministic, with hostile names."""

import math
import pathlib
import random
from typing import Any

from mlgo.evaluation.comparison import Comparison, FunctionRow, rows_to_csv, score_pairs
from mlgo.evaluation.corpora import evaluation
from mlgo.evaluation.corpora import tables as evaluation_tables
from mlgo.evaluation.statistics import summarize, summarize_totals
from mlgo.evaluation.weighted_sum import weighted_sum
from mlgo.problems.problem import load_problem
from mlgo.run import files
from mlgo.run.tabular import encode_csv
from mlgo.score.problem_score import score_of
from mlgo.training import figures

#: What a template's instance can be called, and what a browser or Markdown must not take for markup.
HOSTILE = '_Z1f<script>alert("x")</script>|&amp;`*_[a](javascript:alert(1))'
CLANG = "c1" * 32
SEED = 1


def write_run(folder: pathlib.Path, *, ended: bool = True, iterations: int = 12, better: float = 0.02) -> None:
    """A PPO run on eviction. Args: ended: whether it has a policy and a result; better: improvement, 0.02 is 2 %."""
    random_source = random.Random(7)
    rewards = [better * (1.0 - math.exp(-step / 3.0)) for step in range(iterations + 1)]
    records, validations = [], []
    for step in range(iterations):
        quantiles = {"p05": -0.04, "p25": -0.01, "mean": 0.0, "median": 0.0, "p75": 0.01, "p95": 0.04}
        reward = {"lowest": -0.1, "highest": 0.2, **{name: rewards[step] + off for name, off in quantiles.items()}}
        failures = {"failed_compiles": {}, "failures": {"timeout": 1} if step == 2 else {}}
        update = {"kl": 0.01 + 0.005 * random_source.random(), "entropy": 0.5 - 0.02 * step}
        update["explained_variance"] = 0.05 * step
        records.append({"iteration": step, "modules": 4, "compiles": 16, **failures, **update, "reward": reward})
    for step in range(0, iterations + 1, 3):
        mean = 1.0 - rewards[step]
        counts = {"functions": 80, "modules": 8, "better": 4, "worse": 2, "equal": 2}
        ratio = {"geometric_mean": mean, "low": mean - 0.01, "high": mean + 0.01}
        validations.append({"iteration": step, "failures": {}, **counts, **ratio})
    files.write_atomically(folder / figures.METRICS_NAME, figures.metrics_lines(records, validations))
    settings = {"algorithm": "ppo", "problem": "regalloc_eviction", "reward": "", "seed": SEED, "warm_start": "bc"}
    settings |= {"iterations": iterations, "modules_per_iteration": 4, "max_failure_ratio": 0.1}
    settings |= {"validation_interval": 3, "validation_modules": 8}
    corpora = {"train_corpus": "a1" * 32, "held_out_corpus": "b1" * 32}
    identity: dict[str, Any] = {
        "configuration": {"run": settings},
        "inputs": {"clang": CLANG, **corpora, "policy": None, "imitated": []},
        "versions": {"numpy": "2.1.3"},
    }
    files.write_json_atomically(folder / "configuration.json", identity)
    if not ended:
        return
    comparison = _comparison({"policy": better, "warm_start": 0.0})
    files.write_json_atomically(folder / "held_out" / "result.json", comparison.to_json())
    table = rows_to_csv(comparison.rows, list(comparison.summaries))
    files.write_atomically(folder / "held_out" / "functions.csv", table)
    trace = {"train": {"traced": 12, "no decisions": 1, "decisions": 3456}, "held_out": {"traced": 9, "decisions": 789}}
    start = {"validation_accuracy": 0.9, "validation_decisions": 1234}
    learning = {"chosen_iteration": validations[-1]["iteration"]}
    training = {**identity, "learning": learning, "trace": trace, "warm_start": start}
    record = {"format": "mlgo policy 1", "problem": "regalloc_eviction", "sha256": {"weights.npz": "d1" * 32}}
    files.write_json_atomically(folder / "policy" / "policy.json", {**record, "training": training})
    files.write_json_atomically(folder / "timings.json", {"trace/train": 10.0, "learning": 100.0})


def write_evaluation(
    folder: pathlib.Path,
    policies: dict[str, float],
    *,
    thresholds: dict[str, float] | None = None,
    corpora: tuple[str, ...] = ("alpha", "beta"),
    problem: str = "inlining_for_size",
    reward: str = "comdat_weighted_code",
    clang: str = CLANG,
    digests: dict[str, str] | None = None,
    noise: int = 3,
    skipped: tuple[str, ...] = (),
) -> None:
    """An evaluation of inlining, linked, module by module.

    Args:
      policies, thresholds: by how much each is better than the default: 0.02 is two percent.
      digests: of the corpora; default: made from their names.
      noise: of the policies' sizes: another number, another draw.
      skipped: modules of every corpus that failed.
    """
    thresholds = thresholds or {}
    sides, results = {**policies, **thresholds}, []
    for corpus in corpora:
        comparison = _comparison(sides, by_function=False, noise=noise, skipped=skipped, salt=corpus)
        linked = {"default": {row.module: round(row.default_score) for row in comparison.rows}}
        linked |= {side: {row.module: round(row.scores[side]) for row in comparison.rows} for side in sides}
        summaries = {}
        for side in sides:
            pairs = {module: (linked[side][module], default) for module, default in linked["default"].items()}
            summary = summarize_totals(pairs, SEED)
            assert summary is not None  # There are modules.
            summaries[side] = summary
        code = {side: {module: {"": size} for module, size in sizes.items()} for side, sizes in linked.items()}
        digest = (digests or {}).get(corpus, corpus[:1] * 64)
        results.append(evaluation.CorpusResult(corpus, digest, comparison, linked, summaries, code))
    described = {"clang": clang, "icf": False, "problem": problem, "reward": reward}
    _write_results(folder, results, list(sides), list(policies), described)


def _write_results(
    folder: pathlib.Path,
    results: list[evaluation.CorpusResult],
    sides: list[str],
    policies: list[str],
    described: dict[str, Any],
) -> None:
    content = {
        "kind": "evaluation",
        "policies": dict.fromkeys(policies, "e1" * 32),
        "seed": SEED,
        "order": {"sides": sides, "corpora": [result.corpus for result in results]},
        "corpora": {result.corpus: result.to_json() for result in results},
        **described,
    }
    files.write_json_atomically(folder / "result.json", content)
    columns = list(evaluation_tables.COMPARED_COLUMNS)
    table = encode_csv(columns, evaluation_tables.compared_rows(results, sides))
    files.write_atomically(folder / "modules.csv", table)


def write_scores(folder: pathlib.Path, corpora: dict[str, list[tuple[float, float]]], **more: Any) -> None:
    """An evaluation of eviction whose functions have given scores, one function per module.

    Args: corpora: name -> (default's score, policy's score) of each function; more: further keys of result.json.
    """
    score, results = score_of(load_problem("regalloc_eviction")), []
    for corpus, pairs in corpora.items():
        rows = [
            FunctionRow(f"m{index}.c", f"f{index}", 1, default, {"p": found}, {"p": score.ratio(default, found)}, False)
            for index, (default, found) in enumerate(pairs)
        ]
        summaries = {"p": summarize({row.module: [row.ratios["p"]] for row in rows}, SEED)}
        sums = {"p": weighted_sum(score_pairs(rows, "p"), SEED)}
        code = {side: {row.module: {row.function: 10} for row in rows} for side in ("default", "p")}
        compared = Comparison(rows, summaries, summaries, {}, 0, sums)
        results.append(evaluation.CorpusResult(corpus, corpus[:1] * 64, compared, {}, {}, code))
    described = {"clang": CLANG, "problem": "regalloc_eviction", "reward": "score", **more}
    _write_results(folder, results, ["p"], ["p"], described)


#: 25 functions that are 5 % better, and five that are 10 % worse and carry 99 % of the sum.
CONTRADICTORY = [*[(10.0, 9.5)] * 25, *[(10000.0, 11000.0)] * 5]


def write_programs(folder: pathlib.Path) -> None:
    """Measured programs."""
    sizes = {
        program: {
            side: {"code_bytes": code, "code_bytes_icf": icf, "code_bytes_thinlto": None, "file_bytes": 2 * size}
            for side, code, icf in (("default", size, size - 10), ("policy", size - 30, size - 35))
        }
        for program, size in (("lua", 1000), ("sqlite", 9000))
    }
    default = {"instructions": 10_000_000, "loads": 300_000, "stores": 20_000}
    runs = {"lua": {"default": default, "policy": {"instructions": 9_900_000, "loads": 310_000, "stores": 20_000}}}
    symbols = [{"symbol": HOSTILE, "default": 100, "policy": 40}, {"symbol": "main", "default": 10, "policy": None}]
    worst = {"program": "sqlite", "ratio": 0.997}
    total = {"geometric_mean": 0.98, "low": 0.97, "high": 0.99, "mean": 0.98, "programs": 2, "worst": worst}
    measures = {"size": "code_bytes", "executed": "instructions", "run": "instructions"}
    totals = {part: {"policy": {measure: total}} for part, measure in measures.items()}
    seconds = {"ratio": 1.01, "low": 1.0, "high": 1.02, "sum": 10.1, "base_sum": 10.0, "sources": 7}
    content = {
        "kind": "programs",
        "size": sizes,
        "executed": runs,
        "run": runs,
        "symbols": {"lua": symbols},
        "totals": totals,
        "cost": {"-O2": {"policy": {"cpu_seconds": seconds}}},
        "digests": {"clang": CLANG},
        "left_out": {"run": {"box2d": "timeout"}},
    }
    files.write_json_atomically(folder / "result.json", content)


def write_explanation(folder: pathlib.Path) -> None:
    """What a policy looks at."""
    changed = {"changed_decisions": 0.3, "low": 0.25, "high": 0.35}
    importance = [
        {"feature": f"feature_{index}", **{name: share / (index + 1) for name, share in changed.items()}}
        for index in range(6)
    ]
    example = {"module": "a.cpp", "function": HOSTILE, "decision": 3, "callee": "g"}
    example |= {"policy_choice": "inline", "heuristic_choice": "keep"}
    example["features"] = {"cost_estimate": 12.5, "callee_users": 1}
    example["adds"] = {"cost_estimate": -0.5, "callee_users": 2.25}
    content = {
        "kind": "explanation",
        "problem": "inlining_for_size",
        "policy": "e1" * 32,
        "corpus": "a" * 64,
        "decisions": 1000,
        "ways_to_differ": [{"count": 123, "policy": "inline", "heuristic": "keep"}],
        "differs_from_heuristic": {"count": 123, "share": 0.123, "low": 0.1, "high": 0.15},
        "importance": importance,
        "examples": [example],
    }
    files.write_json_atomically(folder / "explanation.json", content)


def write_everything(folder: pathlib.Path) -> None:
    """A run with an evaluation, programs and an explanation inside, as a shipped policy has them."""
    write_run(folder)
    thresholds = {"threshold_15": 0.01, "threshold_50": -0.02}
    write_evaluation(folder / "evaluation", {"trained": 0.012}, thresholds=thresholds, skipped=("broken.cpp",))
    write_programs(folder / "evaluation" / "programs")
    write_explanation(folder / "explanation")


def _comparison(
    sides: dict[str, float], *, by_function: bool = True, noise: int = 3, skipped: tuple[str, ...] = (), salt: str = ""
) -> Comparison:
    """Nine modules, of three functions each or as a whole."""
    sizes, draws, rows = random.Random(f"sizes {salt}"), random.Random(f"{noise} {salt}"), []
    for module in [f"lib/{index}.cpp" for index in range(8)] + [f"lib/{HOSTILE}.cpp"]:
        for function in (f"f{module[4]}", "g", HOSTILE) if by_function else ("",):
            default = float(sizes.randrange(1000, 9000))
            ratios = {
                side: (1.0 - better) * (1.0 + draws.choice((-0.02, -0.01, 0.0, 0.01, 0.02))) if better else 1.0
                for side, better in sides.items()
            }
            scores = {side: default * ratio for side, ratio in ratios.items()}
            rows.append(FunctionRow(module, function, 5, default, scores, ratios, function == "g"))
    rows.sort(key=lambda row: (row.module, row.function))

    def summaries(chosen):
        by_side = {}
        for side in sides:
            ratios: dict[str, list[float]] = {}
            for row in chosen:
                ratios.setdefault(row.module, []).append(row.ratios[side])
            by_side[side] = summarize(ratios, SEED)
        return by_side

    unseen = [row for row in rows if not row.seen]
    sums = {side: weighted_sum(score_pairs(rows, side), SEED) for side in sides}
    return Comparison(rows, summaries(rows), summaries(unseen), dict.fromkeys(skipped, "policy: timeout"), 0, sums)
