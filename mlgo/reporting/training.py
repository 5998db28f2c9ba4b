"""The sections about training: settings, learning curves, failures."""

from collections.abc import Mapping, Sequence
from typing import Any

from mlgo.learning.algorithm import Algorithm
from mlgo.learning.algorithms.registry import algorithm_named
from mlgo.pages.numbers import number, share_text
from mlgo.pages.page import Block, Cell, Facts, Paragraph, Section, SideBySide, Table, grouped_section
from mlgo.reporting.records import Evaluation, Run
from mlgo.run.progress import format_duration
from mlgo.training import curves


def _algorithm(name: str) -> Algorithm | None:
    """None: the run is of a version with other algorithms."""
    try:
        return algorithm_named(name)
    except ValueError:
        return None


def algorithm_title(name: str) -> str:
    """ "PPO" for "ppo"."""
    algorithm = _algorithm(name)
    return algorithm.title if algorithm else name


def problem_title(name: str) -> str:
    """ "inlining for size" for "inlining_for_size"."""
    return name.replace("_", " ").replace("regalloc ", "register-allocation ")


def training_section(runs: Sequence[Run]) -> Section | None:
    return grouped_section("training", "Training run", "Training", [(run.name, [Facts(_facts(run))]) for run in runs])


def _facts(run: Run) -> list[tuple[str, str]]:
    settings, trace = run.settings, run.training.get("trace", {})
    facts = [
        ("Problem", problem_title(run.problem)),
        ("Algorithm", f"{algorithm_title(settings['algorithm'])}, seed {settings['seed']}"),
        ("Iterations", _iterations(run)),
        ("Start", _start(run)),
        ("Trained on", _corpus(trace.get("train"), run.training["inputs"].get("train_corpus"))),
        ("Held out", _corpus(trace.get("held_out"), run.training["inputs"].get("held_out_corpus"))),
        ("Chosen by", _chosen_by(run)),
        ("Compiler", f"clang {digest(run.training['inputs'].get('clang'))}"),
    ]
    if run.seconds:
        longest = sorted(run.seconds.items(), key=lambda entry: (-entry[1], entry[0]))[:4]
        stages = ", ".join(f"{stage} {format_duration(seconds)}" for stage, seconds in longest)
        facts.append(("Time", f"{format_duration(sum(run.seconds.values()))} ({stages})"))
    return facts


def _chosen_by(run: Run) -> str:
    """The modules that were validated: of a small corpus fewer than the setting asks for."""
    found = run.validations[-1].get("modules") if run.validations else None
    asked, interval = run.settings["validation_modules"], run.settings["validation_interval"]
    often = f"validation modules every {interval} iterations"
    if split := run.training.get("split"):
        validation, train = split["validation"], split["train"]
        return f"{validation['modules']} {often} ({validation['chosen_by']}); {train['modules']} were learned from"
    return f"{asked if found is None else found} {often}"


def _iterations(run: Run) -> str:
    planned, done = run.settings["iterations"], len(run.iterations)
    asked = run.settings["modules_per_iteration"]
    compiled = max((record["modules"] for record in run.iterations if "modules" in record), default=asked)
    each = f"of {min(asked, compiled)} modules"
    if run.chosen_iteration is None:
        return f"{done} of {planned} {each}; the run has not ended"
    return f"{done} {each}; the weights after iteration {run.chosen_iteration} were chosen"


def _start(run: Run) -> str:
    start = run.training.get("warm_start", {})
    named = {"bc": "imitation of the default", "none": "random weights", "policy": "an earlier policy"}
    text = named.get(run.settings["warm_start"], run.settings["warm_start"])
    if (accuracy := start.get("validation_accuracy")) is not None:
        of = number(start.get("validation_decisions", 0), 0)
        text += f", which agrees with the default in {share_text(accuracy)} of {of} decisions"
    return text


def _corpus(counts: Mapping[str, Any] | None, identity: str | None) -> str:
    if identity is None:
        return "none"
    if not counts:
        return f"corpus {digest(identity)}"
    traced, idle = counts.get("traced", 0), counts.get("no decisions", 0)
    modules = f"{number(traced + idle, 0)} modules" + (f", {number(traced, 0)} of them with decisions" if idle else "")
    decisions = number(counts.get("decisions", 0), 0)
    return f"{modules}, {decisions} decisions of the default; corpus {digest(identity)}"


def learning_section(runs: Sequence[Run]) -> Section | None:
    groups = []
    for run in runs:
        own: list[Block] = []
        if run.validations:
            own.append(curves.validation_curve(run.validations, run.chosen_iteration))
        if (rewards := curves.reward_curve(run.iterations)) is not None:
            own.append(rewards)
        algorithm = _algorithm(run.settings["algorithm"])
        titles = algorithm.figures.items() if algorithm else ()
        drawn = [curves.figure_curve(run.iterations, name, title) for name, title in titles]
        if small := [curve for curve in drawn if curve is not None]:
            own.append(SideBySide(small))
        groups.append((run.name, own))
    return grouped_section("learning", "Learning curves", "Learning", groups)


def failures_section(runs: Sequence[Run], evaluations: Sequence[Evaluation]) -> Section | None:
    """Failed compiles by kind; None: nothing was compiled."""
    rows = [row for run in runs for row in _failures(run)]
    left_out = []
    measured = [(run, [run.held_out]) for run in runs if run.held_out] + [(e, e.corpora) for e in evaluations]
    for owner, corpora in measured:
        for corpus in corpora:
            rows.append((owner.name, f"compared: {corpus.name}", len(corpus.failed), ""))
            left_out += [(owner.name, corpus.name, module, why) for module, why in sorted(corpus.failed.items())]
            if corpus.unmatched:
                where = f"{corpus.name}: functions without a decision on one side"
                rows.append((owner.name, where, corpus.unmatched, ""))
    if not rows:
        return None
    blocks: list[Block] = [Paragraph("No compile failed; no module was left out.")]
    if any(count for _, _, count, _ in rows):
        cells = [(Cell(name), Cell(where), Cell.of_number(count), Cell(kinds)) for name, where, count, kinds in rows]
        blocks = [Table("Failed compiles and omitted modules.", ("policy", "stage", "count", "kinds"), cells)]
        if left_out:
            named = [
                (Cell(owner), Cell(name), Cell.of_name(module), Cell(why)) for owner, name, module, why in left_out
            ]
            blocks.append(Table("Modules omitted on all sides.", ("policy", "corpus", "module", "side: kind"), named))
    return Section("failures", "Failures", "Failures", blocks)


def _failures(run: Run) -> list[tuple[str, str, int, str]]:
    found = []
    for where, records in (("while learning", run.iterations), ("in validations", run.validations)):
        kinds: dict[str, int] = {}
        for record in records:
            for kind, count in record.get("failures", {}).items():
                kinds[kind] = kinds.get(kind, 0) + count
        shown = ", ".join(f"{kind}: {count}" for kind, count in sorted(kinds.items()))
        compiles = sum(record.get("compiles", record.get("modules", 0)) for record in records)
        found.append((run.name, f"{where}, {number(compiles, 0)} compiles", sum(kinds.values()), shown))
    return found


def digest(full: str | None) -> str:
    """The first twelve digits."""
    return full[:12] if full else "unknown"
