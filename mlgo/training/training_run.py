"""A whole training run: the stages in their order, from two corpora to a policy with a held-out score.

Problem.decides_after_optimiser and RunSettings.warm_start determine which stages a run needs.
"""

import dataclasses
import functools
import importlib
import pathlib
import types
from collections.abc import Callable, Mapping
from typing import Any

from mlgo.compiler.executor import Executor
from mlgo.compiler.preflight import preflight as check_compiler
from mlgo.corpus.corpus import Corpus
from mlgo.corpus.fitting import fitting_modules, tell_properties
from mlgo.evaluation.comparison import Comparison, compare
from mlgo.evaluation.sides import DEFAULT
from mlgo.learning.network import PolicyNetwork
from mlgo.policy.directory import load_policy
from mlgo.policy.peer_policy import load_any_policy
from mlgo.problems.problem import load_problem
from mlgo.run import determinism, run_folder
from mlgo.run.manifest import Manifest
from mlgo.run.progress import tell
from mlgo.run.quiet import quiet_libraries
from mlgo.run.run_folder import RunFolder
from mlgo.score.problem_score import score_of
from mlgo.trace.compile_cache import CompileCache
from mlgo.trace.optimised_corpus import optimise_corpus
from mlgo.trace.setup import CompileSetup
from mlgo.trace.trace import Trace, trace_corpus
from mlgo.training import export, figures, growth, input_checks, validation, warm_start
from mlgo.training.corpora import ModuleSplit, RunCorpora, open_corpora, split_modules, unseen_by
from mlgo.training.growth import LEARNING
from mlgo.training.run_inputs import ESTIMATION_INPUTS, RunInputs, identity_of
from mlgo.training.settings import Configurations

#: Fills the folder of a stage, and returns the summary of its manifest.
Work = Callable[[pathlib.Path], Mapping[str, Any]]


@dataclasses.dataclass(frozen=True)
class TracedCorpus:
    """One of the two corpora as it is compiled, and the compiler's default over it."""

    corpus: Corpus  #: optimised if the problem's decisions come after the optimiser.
    digest: str
    not_optimised: Mapping[str, str]  #: module name -> kind of failure of the modules that could not be optimised.
    trace: Trace
    traced: Manifest


class TrainingRun:
    """One run.

    Args: workers: compiles at a time; does not change results; executor: where compiles run; None: on this machine.
    Attributes: learned: figures of the finished learning stage: the chosen iteration and its validation.
    """

    def __init__(
        self, inputs: RunInputs, configurations: Configurations, workers: int, executor: Executor | None = None
    ):
        self._inputs, self._configurations = inputs, configurations
        settings = configurations.run
        self.problem = load_problem(settings.problem)
        self._setup = CompileSetup(
            inputs.clang,
            self.problem,
            settings.limits,
            workers,
            settings.max_failure_ratio,
            executor,
            code_of_bitcode=None if inputs.estimation is None else inputs.estimation.load(),
        )
        self._opened: RunFolder | None = None
        self._identity: dict[str, Any] = {}
        self._compile_cache = CompileCache(None, {})
        self.learned: Mapping[str, Any] = {}

    def run(self) -> Comparison | None:
        """Runs all stages that are not done yet.

        Returns: the held-out comparison of "policy", and of "warm_start" if there is one, with the compiler's default;
          None without a held-out corpus.
        Raises: RunError: a stage cannot run with its inputs.
        """
        try:
            return self._run()
        finally:
            if self._opened is not None:
                self._opened.close()

    def _run(self) -> Comparison | None:
        corpora = self._check()
        parts = {name: self._traced(name, corpus) for name, corpus in corpora.by_part.items()}
        train, held_out = parts["train"], parts.get("held_out")
        settings, unseen = self._configurations.run, self._unseen_by_start()
        modules = split_modules(train.trace.traced, corpora, settings, self._inputs, unseen)
        tell(modules.describe())
        start = self._start(train, modules)
        learned = self._learn(train, modules, start)
        self.learned = learned.summary
        exported = self._export(start, learned)
        comparison = None if held_out is None else self._evaluate(train, held_out, start, exported)
        training = {
            **self._identity,
            "split": modules.to_json(),
            "not_optimised": {name: dict(part.not_optimised) for name, part in parts.items()},
            "trace": {name: dict(part.traced.summary) for name, part in parts.items()},
            "warm_start": {key: value for key, value in start.summary.items() if key != "epochs"},
            "learning": dict(learned.summary),
            "held_out": comparison and {**comparison.to_json(), "left_out_as_equal": dict(modules.equal)},
        }
        export.write_results(self._folder.results, comparison, self.problem, training)
        self._folder.remove_work()
        growth.finish(self._inputs.output)
        return comparison

    def _unseen_by_start(self) -> frozenset[str] | None:
        if self._inputs.policy is None:
            return None
        return unseen_by(load_policy(self._inputs.policy, self.problem)[1], self._identity["inputs"]["train_corpus"])

    @property
    def seconds(self) -> Mapping[str, float]:
        """Seconds by stage, of this run and of the interrupted runs that it resumed."""
        return self._folder.seconds

    @property
    def _folder(self) -> RunFolder:
        assert self._opened is not None, "no stage runs before the checks"
        return self._opened

    def _check(self) -> RunCorpora:
        inputs, settings = self._inputs, self._configurations.run
        opened = open_corpora(inputs, self.problem)
        corpora = {name: fitting_modules(self.problem, corpus, tell) for name, corpus in opened.by_part.items()}
        for corpus in corpora.values():
            tell_properties(corpus, tell)
        if inputs.vocabulary is not None:
            input_checks.check_vocabulary(inputs.vocabulary, self.problem)
        self._opened = RunFolder(self._inputs.output)
        input_checks.check_disk_space(self._inputs.output, list(corpora.values()))
        check_compiler(inputs.clang, self.problem)
        if self.problem.is_stock:
            tell("the compiler does not name call sites: every decision is credited with the bytes of its module")
        if not (self._inputs.output / run_folder.CONFIGURATION_NAME).exists():
            input_checks.check_modules(corpora["train"], self._setup)
        self._identity = identity_of(inputs, self._configurations, corpora, self.problem)
        resumed = self._folder.claim(self._identity, growth.prepare(self._inputs.output, self._identity))
        compiled_by = {"problem": self.problem.name, "compile_cpu_seconds": settings.compile_cpu_seconds}
        self._compile_cache = CompileCache(inputs.cache, {**self._tools(), **compiled_by})
        counts = ", ".join(f"{len(corpus.modules)} {name}" for name, corpus in corpora.items())
        tell(
            f"{'continuing' if resumed else 'run'} in {inputs.output}: {settings.problem} by {settings.algorithm},"
            f" {counts} modules, seed {settings.seed}"
        )
        return RunCorpora(corpora, opened.equal)

    def _tools(self) -> dict[str, str]:
        inputs = self._identity["inputs"]
        return {name: inputs[name] for name in ("clang", *ESTIMATION_INPUTS) if name in inputs}

    def _compile_stage(
        self, name: str, digest: str, work: Work, root: pathlib.Path | None = None, **further: str
    ) -> Manifest:
        """A stage that compiles the corpus with this digest. Args: further: inputs."""
        inputs = {"corpus": digest, **self._tools(), **further}
        settings = dataclasses.asdict(self._configurations.run)
        configuration = {name: settings[name] for name in ("problem", "compile_cpu_seconds", "max_failure_ratio")}
        return self._folder.stage(name, inputs, configuration, work, root)

    def _traced(self, part: str, corpus: Corpus) -> TracedCorpus:
        cache, digest, failed = self._compile_cache, corpus.digest, {}
        if self.problem.decides_after_optimiser:
            name, given = f"optimised/{part}", corpus

            def optimise(folder: pathlib.Path) -> Mapping[str, Any]:
                return cache.optimised(folder, given, lambda: optimise_corpus(folder, given, self._setup, name))

            manifest = self._compile_stage(name, digest, optimise)
            corpus = Corpus.load(self._inputs.output / name, given.allowed_options)
            digest, failed = manifest.digest, manifest.summary["failed"]
        title = f"trace/{part}"
        traced = self._compile_stage(title, digest, lambda folder: self._trace(folder, corpus, title))
        return TracedCorpus(corpus, digest, failed, Trace.load(self._inputs.output / title, corpus), traced)

    def _trace(
        self, folder: pathlib.Path, corpus: Corpus, title: str, policy: tuple[pathlib.Path, str] | None = None
    ) -> Mapping[str, Any]:
        """Args: policy: model and digest of a policy, whose decisions are not kept; None: the default."""
        model, digest = policy or (None, None)
        keeps = policy is None
        work = functools.partial(trace_corpus, folder, corpus, self._setup, title, model, keeps)
        return self._compile_cache.traced(folder, corpus, digest, keeps, work)

    def _start(self, train: TracedCorpus, modules: ModuleSplit) -> Manifest:
        configurations, settings = self._configurations, self._configurations.run
        configuration: dict[str, Any] = {"seed": settings.seed, "warm_start": settings.warm_start}

        def stage(inputs: Mapping[str, str], work: Work) -> Manifest:
            return self._folder.stage("warm_start", inputs, configuration, work)

        if (policy := self._inputs.policy) is not None:
            inputs = {"policy": self._identity["inputs"]["policy"]}
            return stage(inputs, lambda folder: warm_start.start_from_policy(folder, policy, self.problem))
        vocabulary, digest = warm_start.vocabulary_of(
            self._folder, self._inputs.vocabulary, train.trace, train.traced, self.problem, configurations
        )
        configuration["network"] = dataclasses.asdict(configurations.network)
        inputs = {"vocabulary": digest}
        if settings.warm_start == "none":
            start = warm_start.start_randomly
            return stage(inputs, lambda folder: start(folder, vocabulary, self.problem, configurations))
        configuration["validation_modules"] = settings.validation_modules
        configuration["behavioural_cloning"] = dataclasses.asdict(configurations.behavioural_cloning)

        def clone(folder: pathlib.Path) -> Mapping[str, Any]:
            self._start_tensorflow("mlgo.learning.behavioural_cloning")
            return warm_start.clone_default(
                folder, train.trace, modules.train, vocabulary, self.problem, configurations
            )

        manifest = stage({"trace": train.traced.digest, **inputs}, clone)
        summary = manifest.summary
        tell(
            f"warm start: repeats {summary['validation_accuracy']:.1%} of the default's decisions in functions it was"
            f" not trained on (always the same one: {summary['majority_accuracy']:.1%})"
        )
        return manifest

    @staticmethod
    def _start_tensorflow(module: str) -> types.ModuleType:
        """Imports `module`, which imports TensorFlow, and makes TensorFlow deterministic.

        By name, because the import takes seconds and a resumed run may not need it.
        """
        with quiet_libraries():
            found = importlib.import_module(module)
            determinism.configure_tensorflow()
        return found

    def _first_network(self) -> PolicyNetwork:
        return warm_start.load_start(self._inputs.output / "warm_start")

    def _learn(self, train: TracedCorpus, modules: ModuleSplit, start: Manifest) -> Manifest:
        configurations, results = self._configurations, self._folder.results

        def work(folder: pathlib.Path) -> Mapping[str, Any]:
            loop = self._start_tensorflow("mlgo.training.learning_loop")
            parts = [train.corpus.select(list(names)) for names in (modules.train, modules.validation)]
            imitated = [load_any_policy(folder, self.problem)[0] for folder in self._inputs.imitated]
            inputs = loop.LearningInputs(*parts, train.trace.records, self._setup, imitated)
            metrics = figures.Metrics(self._inputs.output, results)
            first = self._first_network()
            return loop.LearningLoop(folder, first, inputs, configurations, self._folder.work, metrics).run()

        inputs = {"trace": train.traced.digest, "warm_start": start.digest, **self._tools()}
        of_all = configurations.to_json()
        configuration = {name: of_all[name] for name in ("run", "divergence", configurations.run.algorithm)}
        configuration["imitated"] = self._identity["inputs"]["imitated"]
        return self._folder.stage(LEARNING, inputs, configuration, work, results, growth.extends)

    def _export(self, start: Manifest, learned: Manifest) -> Manifest:
        def work(folder: pathlib.Path) -> Mapping[str, Any]:
            self._start_tensorflow("mlgo.policy.saved_model")
            iteration = learned.summary["chosen_iteration"]
            learning = self._folder.results / LEARNING
            network = validation.candidate_network(learning, iteration, self._first_network())
            with quiet_libraries():
                export.export_policy(folder, network, self.problem)
            return {"iteration": iteration}

        inputs = {"warm_start": start.digest, "learning": learned.digest}
        return self._folder.stage("export", inputs, {}, work, self._folder.results)

    def _evaluate(self, train: TracedCorpus, held_out: TracedCorpus, start: Manifest, exported: Manifest) -> Comparison:
        folder, corpus = self._folder, held_out.corpus

        def work_warm_start(stage: pathlib.Path) -> Mapping[str, Any]:
            collection = self._start_tensorflow("mlgo.policy.collection")
            models = collection.CollectionPolicy(self.problem, folder.work)
            with quiet_libraries():
                model = models.write(self._first_network(), "warm_start", exploration_seed=None)
            return self._trace(stage, corpus, "held-out, warm start", (model, start.digest))

        def work_policy(stage: pathlib.Path) -> Mapping[str, Any]:
            model = folder.results / "export" / export.TFLITE_NAME
            return self._trace(stage, corpus, "held-out, policy", (model, exported.digest))

        stages = {
            "warm_start": (start, folder.path, work_warm_start),
            "policy": (exported, folder.results, work_policy),
        }
        settings, score = self._configurations.run, score_of(self.problem)
        if settings.warm_start == "none":
            # Random weights are not a useful comparison.
            del stages["warm_start"]
        default = held_out.trace.records
        sides = {DEFAULT: default}
        for name, (policy, root, work) in stages.items():
            self._compile_stage(f"held_out/{name}", held_out.digest, work, root, policy=policy.digest)
            sides[name] = Trace.load(root / "held_out" / name, corpus).records
        corpus_score = score.for_corpus({name: record.functions for name, record in default.items()}, settings.reward)
        seen = frozenset(name for record in train.trace.records.values() for name in record.functions if name)
        rows, larger = corpus_score.comparison_rows, score.larger_is_better
        return compare(sides, rows, score.ratio, settings.seed, seen, larger)
