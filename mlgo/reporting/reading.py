"""Reads the records in a folder: a training run, an evaluation, measured programs, an explanation; a shipped policy
(models/NAME) is a run whose other results lie in folders inside it.
"""

import contextlib
import os
import pathlib
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from mlgo.evaluation.statistics import RatioSummary
from mlgo.evaluation.weighted_sum import WeightedSum
from mlgo.reporting import tables
from mlgo.reporting.records import Content, CorpusResult, Evaluation, Kind, Record, Row, Run, SideResult, sum_of
from mlgo.run import files
from mlgo.run.exit_codes import ExitCode, RunError
from mlgo.run.manifest import digest_of_json
from mlgo.run.regular_file import read_file
from mlgo.run.run_folder import TIMINGS_NAME
from mlgo.training import figures, growth

#: Folders in which results lie beside a run or an evaluation, in the order of a report.
_INSIDE = ("evaluation", "libraries", "all_programs", "programs", "explanation")
#: Seed of the intervals of sums that a result does not record.
SEED = 1
#: Kinds of a trace's modules that compiled.
_COMPILED = ("traced", "no decisions")
#: Tables and figures above this size are refused: modules.csv of 25,000 modules and ten policies has 50 MB.
_MOST_TABLE_BYTES = 1024**3
_REMEDY = "Run the command that wrote it again"
#: What Python raises where a value has another type or size than this version writes.
_MALFORMED = (AttributeError, KeyError, TypeError, ValueError, IndexError, ArithmeticError, RecursionError)
_EXPECTED = (
    "Give the folder of a training run (configuration.json), of //mlgo:evaluate or //mlgo:evaluate_programs"
    " (result.json), of //mlgo:explain (explanation.json), or of a shipped policy (models/...)"
)


@contextlib.contextmanager
def readable(subject: str) -> Iterator[None]:
    """Turns errors of malformed content into a RunError about `subject`, such as "training run (out/inlining)"."""
    try:
        yield
    except _MALFORMED as error:
        says = f"lacks {error}" if isinstance(error, KeyError) else f"is not one that this version writes: {error}"
        raise RunError(subject, says, f"{_REMEDY}, or use the version that wrote it") from error


def read_folder(folder: pathlib.Path, name: str, workspace: pathlib.Path | None) -> list[Record]:
    """All records in `folder`, under `name`; folders below `workspace` are named by relative paths.

    Raises: RunError: nothing is recognised there, or what is there cannot be read.
    """
    found = _recognised(folder, name, _place(folder, workspace), set())
    if not found:
        wrong = "holds no result that a report can show" if folder.is_dir() else "is not a folder"
        raise RunError(str(folder), wrong, _EXPECTED, ExitCode.USER_ERROR)
    return found


def _recognised(folder: pathlib.Path, name: str, place: str, seen: set[str]) -> list[Record]:
    """Args: seen: the folders that were read before, to which links may lead."""
    found: list[Record] = []
    if (real := os.path.realpath(folder)) in seen:
        return found
    seen.add(real)
    if _is_run(folder):
        found.append(_run(folder, name, place))
    if (folder / "explanation.json").is_file():
        content = _json_object(folder / "explanation.json", "explanation")
        found.append(Content(Kind.EXPLANATION, name, place, content))
    if (folder / "result.json").is_file() and (result := read_result(folder, name, place)) is not None:
        found.append(result)
    for inside in _INSIDE:
        # Of a policy's two measurements in programs, the one in more of them speaks.
        if (folder / inside).is_dir() and not (inside == "programs" and (folder / "all_programs").is_dir()):
            found += _recognised(folder / inside, name, f"{place}/{inside}", seen)
    return found


def read_result(folder: pathlib.Path, name: str, place: str, with_rows: bool = True) -> Evaluation | Content | None:
    """The result.json in `folder`, and the table beside it if `with_rows`; None: it is of no kind that is known here.

    Raises: RunError: it cannot be read.
    """
    content = _json_object(folder / "result.json", "result")
    kind = content.get("kind")
    if kind in tuple(Kind):
        return Content(Kind(kind), name, place, content)
    return _evaluation(folder, content, name, place, with_rows) if "corpora" in content else None


def _place(folder: pathlib.Path, workspace: pathlib.Path | None) -> str:
    if workspace is not None and folder.is_relative_to(workspace):
        return folder.relative_to(workspace).as_posix()
    return folder.name


def _is_run(folder: pathlib.Path) -> bool:
    """Whether a training run has written `folder`: other commands record what their results rest on, too."""
    if (folder / "policy" / "policy.json").is_file():
        return True
    path = folder / "configuration.json"
    configuration = _json_object(path, "configuration of the run").get("configuration") if path.is_file() else None
    return isinstance(configuration, Mapping) and "run" in configuration


def _run(folder: pathlib.Path, name: str, place: str) -> Run:
    training: Mapping[str, Any] = {}
    policy: Mapping[str, str] = {}
    record_path = folder / "policy" / "policy.json"
    if record_path.is_file():
        record = _json_object(record_path, "record of the policy")
        training, policy = record.get("training", {}), record.get("sha256", {})
        if not training and not (folder / "configuration.json").is_file():
            wrong, remedy = "does not say how the policy was trained", "Name a folder that a training run has written"
            raise RunError(str(record_path), wrong, remedy)
    if not training:
        training = _json_object(folder / "configuration.json", "configuration of the run")
    growth.check_replaced(folder)
    with readable(f"training run ({folder})"):
        if not isinstance(training["configuration"]["run"]["problem"], str):
            raise ValueError("its problem has no name")
        has_timings, held_out = (folder / TIMINGS_NAME).is_file(), _held_out(folder, training)
        timings = _json_object(folder / TIMINGS_NAME, "timings") if has_timings else {}
        return Run(name, place, training, *_metrics(folder), held_out, dict(policy), timings)


def _metrics(folder: pathlib.Path) -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
    path = folder / figures.METRICS_NAME
    if not path.is_file():
        return [], []
    return figures.parse_metrics(_content(path, "figures of the run"), f"figures of the run ({path})")


def _held_out(folder: pathlib.Path, training: Mapping[str, Any]) -> CorpusResult | None:
    path = folder / "held_out" / "result.json"
    if not path.is_file():
        return None
    content = _json_object(path, "held-out result")
    table_path = path.parent / "functions.csv"
    rows = tables.functions_table(_content(table_path, "functions"), str(table_path)) if table_path.is_file() else {}
    with readable(f"held-out result ({path})"):
        names = sorted(content["all_functions"], key=lambda side: (side != "policy", side))
        digest, of_sides = training["inputs"].get("held_out_corpus"), {side: rows.get(side, []) for side in names}
        compiled = training.get("trace", {}).get("held_out", {})
        # Modules that failed under the default are in neither of these numbers.
        failed_later = sum("default:" not in why for why in content["failed_modules"].values())
        modules = sum(compiled.get(name, 0) for name in _COMPILED) - failed_later if compiled else None
        return _corpus("held_out", digest, {"modules": modules, **content}, names, of_sides)


def _evaluation(folder: pathlib.Path, content: Mapping[str, Any], name: str, place: str, with_rows: bool) -> Evaluation:
    table_path = folder / "modules.csv"
    kept = with_rows and table_path.is_file()
    rows = tables.modules_table(_content(table_path, "modules"), str(table_path)) if kept else {}
    with readable(f"result of an evaluation ({folder / 'result.json'})"):
        policies, corpora, order = content["policies"], [], content.get("order", {})
        for corpus in _ordered(sorted(content["corpora"]), order.get("corpora", [])):
            result = content["corpora"][corpus]
            by_kind = sorted(result["all_functions"], key=lambda side: (side not in policies, _by_number(side)))
            names = _ordered(by_kind, order.get("sides", []))
            of_sides = {side: rows.get((corpus, side), []) for side in names}
            corpora.append(_corpus(corpus, result.get("digest"), result, names, of_sides))
        measured, seed = (content.get("problem"), content.get("reward"), content["clang"]), int(content["seed"])
        icf = bool(content.get("icf", False))
        return Evaluation(name, place, *measured, dict(policies), tuple(corpora), icf, seed)


def _corpus(
    name: str, digest: str | None, content: Mapping[str, Any], sides: list[str], rows: Mapping[str, list[Row]]
) -> CorpusResult:
    sums, unseen = content.get("weighted_sum", {}), content.get("functions_unseen_in_training", {})
    linked, sizes = content.get("linked_code", {}), content.get("linked_code_bytes", {})
    objects, results = content.get("object_code_bytes", {}), []
    for side in sides:
        means = _summary(content["all_functions"][side]), _summary(unseen.get(side)), _summary(linked.get(side))
        code, weighted = objects.get(side), _weighted(sums.get(side), rows[side])
        results.append(
            SideResult(side, *means, sizes.get(side), tuple(rows[side]), code, weighted, objects.get("default"))
        )
    omitted = dict(content["failed_modules"]), int(content["unmatched_functions"])
    of_default = sizes.get("default"), objects.get("default")
    return CorpusResult(name, digest, tuple(results), *omitted, *of_default, content.get("modules"))


def _weighted(content: Mapping[str, Any] | None, rows: Sequence[Row]) -> WeightedSum | None:
    """The recorded sum, or that of the table, because older results record none."""
    if content is not None:
        return WeightedSum.from_json(content)
    return sum_of(rows, [row.default_score for row in rows], SEED)


def _summary(content: Mapping[str, Any] | None) -> RatioSummary | None:
    return None if content is None else RatioSummary(**content)


def _ordered(names: Sequence[str], given: Sequence[str]) -> list[str]:
    """`names` in the order of `given`; those that are not among them come last and keep their order."""
    place = {name: index for index, name in enumerate(given)}
    return sorted(names, key=lambda name: place.get(name, len(place)))


def _by_number(side: str) -> tuple[str, int]:
    """Sort key that puts threshold_10 after threshold_5."""
    name, _, number = side.rpartition("_")
    return (name, int(number)) if number.isdecimal() else (side, 0)


def _content(path: pathlib.Path, what: str) -> bytes:
    return read_file(path, _MOST_TABLE_BYTES, what, _REMEDY)


def _json_object(path: pathlib.Path, what: str) -> dict[str, Any]:
    content = files.read_json(path, what, _REMEDY)
    if not isinstance(content, dict):
        raise RunError(f"{what} ({path})", "is not a JSON object", _REMEDY)
    return content


def digest_of(policy: Mapping[str, str]) -> str:
    """The digest of a policy whose files have these digests; "" for none."""
    return digest_of_json(dict(policy)) if policy else ""
