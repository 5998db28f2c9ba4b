"""Shows what a policy sees, what it decides, what the compiler's heuristic decides in the same state, and why.

    ./bazelw run //mlgo:explain -- --policy=models/inlining_for_size/policy --module=StringRef --function=StringRef::find
    ./bazelw run //mlgo:explain -- --policy=models/inlining_for_size/policy --module=Debug.cpp                # which functions there are
    ./bazelw run //mlgo:explain -- --policy=models/inlining_for_size/policy --corpus=/data/zstd_oz            # the whole corpus
    ./bazelw run //mlgo:explain -- --problem=regalloc_eviction --policy=models/regalloc_eviction/policy --modules=20 --seed=1

With --module one module is compiled under the default and under the policy, and one function's decisions are shown: as text, and with
--html=FILE as a page. Names are exact or a part that only one name has; C++ names may be given as people write them. --callsite keeps the
calls of one callee, of inlining.

Without --module the whole corpus is compiled: how often the policy differs from the heuristic, which features its decisions hang on (each
is permuted in turn), and where it differs most clearly. Below --output_dir then lie explanation.json (mlgo/explanation/README.md says what is
in it), explanation.md and importance.svg.

"The same state": the policy is asked, in NumPy and bit for bit as the compiler would ask it, about the states that the default's compile
went through, where the heuristic's decisions are logged. In the states of the policy's own compile the heuristic's answer is known for
inlining only, where LLVM asks both. Intervals are 95 % bootstraps over modules. Ctrl-C or worse: the same command goes on.

Exit codes: 0 done, 2 something is not as it should be, 10 there is no decision to explain, 11 too many modules failed, 130 interrupted.
"""

import dataclasses
import pathlib
import sys
from collections.abc import Callable, Mapping, Sequence
from typing import TypeVar

import numpy as np
from absl import flags

from mlgo.commands.compiling import clang_given, define_compiler_flags, executor_given
from mlgo.commands.training import held_out_corpus, problem_given, refuse_arguments, run_command
from mlgo.compiler.executor import available_cores
from mlgo.compiler.preflight import preflight as check_compiler
from mlgo.compiler.request import CompileLimits
from mlgo.corpus.corpus import Corpus
from mlgo.explanation import document, function_report, recorded, selection, terminal
from mlgo.explanation.attribution import formula
from mlgo.explanation.decision import explain, typical_of
from mlgo.explanation.function_report import FunctionReport
from mlgo.explanation.importance import Share, importances, share_of
from mlgo.explanation.page import page
from mlgo.explanation.recorded import RecordedDecisions
from mlgo.explanation.replay import Replay, disagreements, replay
from mlgo.explanation.sections import Shown, View, sections_of
from mlgo.explanation.summary import Explanation, ModuleView, choose_examples, differing, observe, ways_of
from mlgo.explanation.symbols import demangled
from mlgo.learning.linear_network import linear_effect
from mlgo.learning.network import PolicyNetwork
from mlgo.learning.observations import concatenate
from mlgo.policy.directory import load_policy
from mlgo.policy.greedy_model import write_greedy_model
from mlgo.problems.problem import Problem
from mlgo.run import files, locate, progress
from mlgo.run.determinism import generator
from mlgo.run.exit_codes import ExitCode, RunError
from mlgo.run.manifest import digest_of_bytes, digest_of_file
from mlgo.run.run_folder import RunFolder
from mlgo.trace.outcomes import ModuleRecord, Outcome
from mlgo.trace.setup import CompileSetup
from mlgo.trace.trace import Trace
from mlgo.training.settings import RunSettings

FLAGS = flags.FLAGS

define_compiler_flags()
flags.DEFINE_string("problem", "inlining_for_size", "A folder below mlgo/problems: what the policy decides.")
flags.DEFINE_string("policy", None, "Folder of the policy.")
flags.DEFINE_string("corpus", None, "Path of the corpus. Default: the built-in held-out one.")
flags.DEFINE_string(
    "output_dir", None, "Folder of results and compiles. Default: out/explanation/PROBLEM in the workspace."
)
flags.DEFINE_string("module", None, "The module to look at: its name, or a part that no other has.")
flags.DEFINE_string(
    "function", None, "The function to explain, of inlining the caller. Without it: what functions the module has."
)
flags.DEFINE_string("callsite", None, "Of inlining: only calls of the functions whose name holds this.")
flags.DEFINE_bool("only_different", False, "Only decisions that differ from the heuristic's.")
flags.DEFINE_integer("limit", 20, "Decisions shown of each origin; 0: all.", lower_bound=0)
flags.DEFINE_integer(
    "features", 6, "Features shown of each decision, the weightiest; 0: all that the policy looks at.", lower_bound=0
)
flags.DEFINE_bool("all_features", False, "All features that the policy looks at, and all that the compiler shows.")
flags.DEFINE_string("html", None, "Also write the function's page to this file.")
flags.DEFINE_string(
    "cxxfilt", None, "llvm-cxxfilt. Default: the packaged one of this workspace; without one names stay mangled."
)
flags.DEFINE_integer("modules", 0, "Look at this many modules of the corpus, drawn by the seed; 0: all.", lower_bound=0)
flags.DEFINE_integer(
    "decisions", 20_000, "About as many decisions are sampled for the importance of features.", lower_bound=1
)
flags.DEFINE_integer("repeats", 5, "How often each feature is permuted.", lower_bound=1)
flags.DEFINE_integer("examples", 20, "How many decisions that differ are listed.", lower_bound=0)
flags.DEFINE_integer("seed", RunSettings.seed, "Of samples, permutations and bootstraps.", lower_bound=0)
flags.DEFINE_float(
    "max_failure_ratio",
    RunSettings.max_failure_ratio,
    "Part of the corpus's modules that may fail.",
    lower_bound=0.0,
    upper_bound=1.0,
)
flags.DEFINE_integer(
    "compile_cpu_seconds", RunSettings.compile_cpu_seconds, "CPU time one compile may use.", lower_bound=1
)

T = TypeVar("T")

_SHORT_DIGEST = 12
_CHART_NAME = "importance.svg"


@dataclasses.dataclass(frozen=True)
class Explainer:
    """What both ways to explain share.

    Attributes:
      problem, network: the policy and what it decides.
      digest: the policy's.
      corpus: of all modules that may be looked at.
      folder: of results and compiles.
      setup: how modules are compiled.
      clang_digest: the compiler's.
    """

    problem: Problem
    network: PolicyNetwork
    digest: str
    corpus: Corpus
    folder: RunFolder
    setup: CompileSetup
    clang_digest: str

    def compiled(self, name: str, corpus: Corpus, under_policy: bool) -> pathlib.Path:
        """The folder with what was decided in `corpus`, compiled as far as that was not done before.

        Raises: RunError: too many modules fail.
        """
        side = "policy" if under_policy else "default"

        def work(folder: pathlib.Path) -> Mapping[str, int]:
            model = (
                write_greedy_model(self.network, self.problem, self.folder.work, "explained") if under_policy else None
            )
            return recorded.record_corpus(folder, corpus, self.setup, f"{name}, {side}", model)

        inputs = {
            "clang": self.clang_digest,
            "corpus": self.corpus.digest,
            "policy": self.digest if under_policy else "",
        }
        modules = digest_of_bytes(files.encode_json([module.name for module in corpus.modules]))
        configuration = {
            "problem": self.problem.name,
            "modules": modules,
            "compile_cpu_seconds": FLAGS.compile_cpu_seconds,
        }
        self.folder.stage(f"{name}/{side}", inputs, configuration, work)
        return self.folder.path / name / side

    def replayed(self, folder: pathlib.Path, module: str, check: bool) -> View | None:
        """What was decided in a module and what the policy says to it; None: nothing was.

        Args: check: whether the policy took these decisions, so that the replay must give the same.
        Raises: RunError: it does not.
        """
        found = recorded.load(folder, module, self.problem)
        if found is None:
            return None
        answers = replay(self.network, self.problem, found)
        if check and (wrong := disagreements(answers, found)):
            raise RunError(
                f"decisions of {module}",
                f"the compiler took {wrong} of {len(found)} otherwise than the policy's weights do in NumPy",
                "This is a defect of mlgo; please report it with the policy and the module",
                ExitCode.INTERNAL_ERROR,
            )
        return found, answers


def main(arguments: list[str]) -> int:
    """Explains; returns the exit code."""
    refuse_arguments(arguments)
    problem = problem_given(FLAGS.problem)
    _check_flags(problem)
    corpus = Corpus.load(locate.user_path(FLAGS.corpus) if FLAGS.corpus else locate.runfile(held_out_corpus(problem)))
    network, record = load_policy(locate.user_path(FLAGS.policy), problem)
    module = None
    if FLAGS.module:
        names = {each.name: each.name for each in corpus.modules}
        module = selection.the_one(FLAGS.module, names, "--module", "module", f"corpus {corpus.path}")
    clang = clang_given()
    check_compiler(clang, problem)
    folder = RunFolder(locate.output_directory(FLAGS.output_dir, f"explanation/{problem.name}"))
    folder.remove_work()
    with executor_given(clang, FLAGS.workers) as executor:
        limits = CompileLimits(cpu_seconds=FLAGS.compile_cpu_seconds)
        setup = CompileSetup(
            clang, problem, limits, FLAGS.workers or available_cores(), FLAGS.max_failure_ratio, executor
        )
        digest = digest_of_bytes(files.encode_json(record["sha256"]))
        explainer = Explainer(problem, network, digest, corpus, folder, setup, digest_of_file(clang))
        if module is None:
            _explain_corpus(explainer)
        else:
            _explain_module(explainer, module)
    folder.remove_work()
    return ExitCode.DONE


def _check_flags(problem: Problem) -> None:
    if not FLAGS.policy:
        raise RunError("--policy", "is not given: there is nothing to explain", "Name the folder of a policy")
    for flag in ("function", "callsite", "html"):
        if FLAGS[flag].value and not FLAGS.module:
            raise RunError(f"--{flag}", "means nothing without --module", "Give --module=NAME, or a part of the name")
    if FLAGS.callsite and not problem.context_flags:
        raise RunError(
            "--callsite", f"means nothing to {problem.name}, which does not decide about calls", "Leave it out"
        )


def _explain_module(explainer: Explainer, module: str) -> None:
    """One function of a module, or which functions it has."""
    corpus = explainer.corpus.select([module])
    sides = {under: explainer.compiled(f"modules/{module}", corpus, under) for under in (False, True)}
    views = {under: explainer.replayed(sides[under], module, check=under) for under in (False, True)}
    found = [view[0] for view in views.values() if view is not None]
    functions = {each for decided in found for each in decided.by_function()}
    callees = {decided.callee(n) for decided in found for n in range(len(decided))} - {""}
    names = demangled(_cxxfilt(), sorted(functions | callees))
    shown = {function: names[function] for function in sorted(functions)}
    wanted = None
    if FLAGS.callsite:
        wanted = set(selection.matching(FLAGS.callsite, {name: names[name] for name in sorted(callees)}))
        if not wanted:
            selection.the_one(
                FLAGS.callsite,
                {name: names[name] for name in sorted(callees)},
                "--callsite",
                "callee",
                f"module {module}",
            )
        callers = {decided.function(n) for decided in found for n in range(len(decided)) if decided.callee(n) in wanted}
        shown = {function: name for function, name in shown.items() if function in callers}
    if not shown:
        raise RunError(
            f"module {module}",
            f"has no decision of {explainer.problem.name}",
            "Give another",
            ExitCode.NOTHING_PRODUCED,
        )
    if not FLAGS.function and len(shown) > 1:
        _list_functions(views[False], views[True], shown)
        return
    function = selection.the_one(
        FLAGS.function or next(iter(shown)), shown, "--function", "function", f"module {module}"
    )
    records = [Trace.load(sides[under], corpus).records[module] for under in (False, True)]
    report = _function_report(explainer, views, records, function, wanted, names)
    terminal.show_function(terminal.console(sys.stdout), report)
    if FLAGS.html:
        path = locate.user_path(FLAGS.html)
        files.write_atomically(path, page(report))
        print(f"\nPage: {path}")


def _list_functions(default: View | None, policy: View | None, shown: Mapping[str, str]) -> None:
    """Which functions there are to explain, and in which the policy differs."""
    rows = []
    for function, name in shown.items():
        decisions = default[0].by_function().get(function, []) if default else []
        own = policy[0].by_function().get(function, []) if policy else []
        rows.append((function, name, len(decisions), sum(bool(default[1].differs[n]) for n in decisions), len(own)))
    rows.sort(key=lambda row: (-row[3], -row[2], row[0]))
    terminal.show_functions(terminal.console(sys.stdout), rows)


def _function_report(
    explainer: Explainer,
    views: Mapping[bool, View | None],
    records: Sequence[ModuleRecord],
    function: str,
    callees: set[str] | None,
    names: Mapping[str, str],
) -> FunctionReport:
    problem = explainer.problem
    decided, answers = views[False] or views[True]
    typical = typical_of(problem, [decided], [answers.observations])
    shown = Shown(function, callees, FLAGS.only_different, FLAGS.limit)
    return FunctionReport(
        problem=problem.name,
        policy=f"{FLAGS.policy} ({explainer.digest[:_SHORT_DIGEST]})",
        module=decided.module,
        function=function,
        demangled=names,
        outcome=function_report.outcome_lines(problem, function, *records),
        basis=function_report.basis(
            problem.decision_kind == "categorical",
            linear_effect(explainer.network) is not None,
            f"over the {len(decided)} decisions of this module",
        ),
        sections=sections_of(explainer.network, problem, views[False], views[True], typical, shown),
        reasons=0 if FLAGS.all_features else FLAGS.features,
        all_values=FLAGS.all_features,
    )


def _explain_corpus(explainer: Explainer) -> None:
    """How a policy differs from the heuristic on the whole corpus."""
    corpus = _sampled(explainer.corpus)
    default = explainer.compiled("default_states", corpus, False)
    # Where the heuristic's answers are unknown, the policy's own compiles would tell nothing.
    own = explainer.compiled("own_states", corpus, True) if explainer.problem.default_decision_spec else None
    records = [Trace.load(folder, corpus).records for folder in (default, own) if folder]
    failed = {
        name: record.failure_kind
        for of_side in records
        for name, record in of_side.items()
        if record.outcome is Outcome.FAILED
    }
    modules = [module.name for module in corpus.modules if module.name not in failed]
    rate = min(1.0, FLAGS.decisions / max(1, sum(records[0][name].decisions for name in modules)))
    views = _looked_at(
        explainer, default, modules, False, lambda *view: observe(explainer.problem, *view, rate, FLAGS.seed)
    )
    views = [view for view in views if view.decisions]
    if not views or not sum(len(view.sample) for view in views):
        raise RunError(
            f"corpus {corpus.path}",
            f"has no decision of {explainer.problem.name}",
            "Give another, or more modules",
            ExitCode.NOTHING_PRODUCED,
        )
    own_counts = None
    if own:
        counted = _looked_at(
            explainer, own, modules, True, lambda of, view: (of.module, (int(view.differs.sum()), len(of)))
        )
        own_counts = share_of(dict(counted), FLAGS.seed) if counted else None
    explanation = _explanation(explainer, default, views, own_counts, failed)
    out = explainer.folder.path
    files.write_json_atomically(out / "explanation.json", explanation.to_json())
    files.write_atomically(out / "explanation.md", document.markdown(explanation, _CHART_NAME).encode("utf-8"))
    title = f"{explainer.problem.name}: what the policy's decisions hang on"
    files.write_atomically(out / _CHART_NAME, document.importance_chart(explanation.importance, title))
    terminal.show_summary(terminal.console(sys.stdout), explanation)
    print(f"\nResults: {out / 'explanation.json'}, explanation.md, {_CHART_NAME}")


def _explanation(
    explainer: Explainer,
    default: pathlib.Path,
    views: Sequence[ModuleView],
    own: Share | None,
    failed: Mapping[str, str],
) -> Explanation:
    sample = concatenate([view.sample for view in views])
    module_of = np.repeat(np.arange(len(views)), [len(view.sample) for view in views])
    modules = [view.module for view in views]
    importance = importances(
        explainer.network, explainer.problem, sample, modules, module_of, FLAGS.seed, FLAGS.repeats
    )
    chosen = choose_examples(views, FLAGS.examples)
    examples = []
    for candidate in chosen:
        decided, answers = explainer.replayed(default, candidate.module, check=False)
        typical = typical_of(explainer.problem, [decided], [answers.observations])
        examples += explain(explainer.network, explainer.problem, decided, answers, [candidate.decision], typical)
    return Explanation(
        problem=explainer.problem.name,
        policy=explainer.digest,
        corpus=explainer.corpus.digest,
        seed=FLAGS.seed,
        repeats=FLAGS.repeats,
        differs=share_of(differing(views), FLAGS.seed),
        own_differs=own,
        ways=ways_of(views),
        by_module=differing(views),
        sampled=len(sample),
        importance=importance,
        formula=formula(explainer.network),
        examples=examples,
        failed=failed,
        demangled=demangled(_cxxfilt(), sorted({name for each in chosen for name in (each.function, each.callee)})),
    )


def _looked_at(
    explainer: Explainer,
    folder: pathlib.Path,
    modules: Sequence[str],
    under_policy: bool,
    look: Callable[[RecordedDecisions, Replay], T],
) -> list[T]:
    """look(decisions, replay) of every module with decisions, in order. Args: under_policy: whether the policy took them."""
    shown = progress.start(f"replay of {'own' if under_policy else 'default'} states", len(modules), "modules")
    found = []
    try:
        for module in modules:
            if (view := explainer.replayed(folder, module, check=under_policy)) is not None:
                found.append(look(*view))
            shown.advance()
    finally:
        shown.close()
    return found


def _sampled(corpus: Corpus) -> Corpus:
    names = [module.name for module in corpus.modules]
    if not 0 < FLAGS.modules < len(names):
        return corpus
    drawn = generator(FLAGS.seed, "modules").permutation(len(names))[: FLAGS.modules]
    return corpus.select([names[index] for index in drawn])


def _cxxfilt() -> pathlib.Path | None:
    if FLAGS.cxxfilt is None and locate.of_environment("MLGO_PACKAGED_CXXFILT") is None:
        return None
    return locate.program(FLAGS.cxxfilt, "--cxxfilt", "MLGO_PACKAGED_CXXFILT")


if __name__ == "__main__":
    run_command(main)
