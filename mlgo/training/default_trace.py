"""Records the trace of a corpus outside of a training run, under the compiler's default heuristic or under a policy."""

import dataclasses
import pathlib
from collections.abc import Mapping
from typing import Any

from mlgo.compiler.preflight import preflight as check_compiler
from mlgo.corpus.corpus import Corpus
from mlgo.corpus.fitting import chosen_modules
from mlgo.identity.code import run_identity
from mlgo.identity.programs import compiler_identity
from mlgo.policy.greedy_model import write_greedy_model
from mlgo.policy.peer_policy import load_any_policy
from mlgo.run import files
from mlgo.run.manifest import digest_of_bytes
from mlgo.run.run_folder import RunFolder
from mlgo.run.tabular import encode_csv
from mlgo.score.function_scores import FunctionScore
from mlgo.score.problem_score import score_of
from mlgo.trace.sequence_examples import write_tfrecord
from mlgo.trace.setup import CompileSetup
from mlgo.trace.trace import Trace, trace_corpus
from mlgo.training import input_checks

#: The stage that holds the trace; that of the default's scores when the trace is a policy's.
STAGE, _WITHOUT_POLICY = "trace/default", "trace/without_policy"
TFRECORD_NAME = "default_trace.tfrecord"  #: the file of --output_format=tfrecord in the output folder.


@dataclasses.dataclass(frozen=True)
class Selection:
    """The modules to compile."""

    sampling_rate: float  #: part of the modules, in [0, 1].
    module_filter: str | None  #: regular expression that must match in a module's name; None: all modules.
    seed: int


def record_trace(
    corpus: Corpus,
    selection: Selection,
    setup: CompileSetup,
    output: pathlib.Path,
    policy: pathlib.Path | None,
    performance: pathlib.Path | None,
    as_tfrecord: bool = False,
) -> str:
    """Records the trace, or resumes recording it. Returns a line about the result.

    Args:
      policy: folder of the policy that makes the decisions; None: the compiler's heuristic.
      performance: CSV file for the scores of every module and function beside the default's.

    Raises: RunError: an input is not usable, no module has a decision, or too many modules failed.
    """
    names = [module.name for module in corpus.modules]
    chosen = corpus.select(chosen_modules(names, selection.module_filter, selection.sampling_rate, selection.seed))
    network, record = load_any_policy(policy, setup.problem) if policy else (None, None)
    folder = RunFolder(output)
    input_checks.check_disk_space(folder.path, [chosen])
    check_compiler(setup.clang, setup.problem)
    inputs = {"corpus": corpus.digest, "clang": compiler_identity(setup.clang)}
    if record is not None:
        inputs["policy"] = digest_of_bytes(files.encode_json(record["sha256"]))
    configuration = {
        "problem": setup.problem.name,
        **dataclasses.asdict(selection),
        "max_failure_ratio": setup.max_failure_ratio,
        "compile_cpu_seconds": setup.limits.cpu_seconds,
    }
    folder.claim(run_identity({"inputs": inputs, "configuration": configuration}))

    def trace(stage: pathlib.Path) -> Mapping[str, Any]:
        model = write_greedy_model(network, setup.problem, folder.work, "policy") if network else None
        return trace_corpus(stage, chosen, setup, "trace", model)

    def trace_without_policy(stage: pathlib.Path) -> Mapping[str, Any]:
        return trace_corpus(stage, chosen, setup, "trace of the default", keep_decisions=False)

    counts = folder.stage(STAGE, inputs, configuration, trace).summary
    done = ""
    if performance or as_tfrecord:
        found = default = Trace.load(folder.path / STAGE, chosen)
        if policy:
            without = {name: digest for name, digest in inputs.items() if name != "policy"}
            folder.stage(_WITHOUT_POLICY, without, configuration, trace_without_policy)
            default = Trace.load(folder.path / _WITHOUT_POLICY, chosen)
    if as_tfrecord:
        count = write_tfrecord(folder.path / TFRECORD_NAME, found, setup.problem, default.records)
        done = f", {count} examples -> {folder.path / TFRECORD_NAME}"
    if performance:
        sides = [{name: record.functions for name, record in side.records.items()} for side in (default, found)]
        rows = score_of(setup.problem).for_corpus(sides[0]).comparison_rows
        compared = [{name: rows(name, functions) for name, functions in side.items()} for side in sides]
        files.write_atomically(performance, performance_csv(*compared))
    folder.remove_work()
    return (
        f"traced {counts['traced']} of {len(chosen.modules)} modules, {counts['no decisions']} without decisions,"
        f" {counts['failed']} failed; {counts['decisions']} decisions -> {folder.path / STAGE}{done}"
    )


def performance_csv(
    default: Mapping[str, Mapping[str, FunctionScore]], found: Mapping[str, Mapping[str, FunctionScore]]
) -> bytes:
    """module,function,default_score,score of everything that has a score on both sides, with a header; sorted."""
    rows = (
        (module, function, default[module][function].score, found[module][function].score)
        for module in sorted(default)
        for function in sorted(default[module].keys() & found[module].keys())
    )
    return encode_csv(["module", "function", "default_score", "score"], rows)
