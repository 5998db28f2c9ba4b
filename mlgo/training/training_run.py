"""A whole training run: the stages in their order, from two corpora to a policy with a held-out score.

Problem.decides_after_optimiser and RunSettings.warm_start determine which stages a run needs.
"""

import dataclasses
import importlib
import pathlib
import types
from collections.abc import Mapping, Sequence
from typing import Any

from mlgo.compiler.executor import Executor
from mlgo.compiler.preflight import preflight as check_compiler
from mlgo.corpus.corpus import Corpus
from mlgo.corpus.fitting import fitting_modules, tell_properties
from mlgo.evaluation.comparison import Comparison, compare
from mlgo.evaluation.sides import DEFAULT
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
from mlgo.training.cloning_run import vocabulary_of
from mlgo.training.corpora import ModuleSplit, RunCorpora, open_corpora, split_modules, unseen_by
from mlgo.training.growth import LEARNING
from mlgo.training.run_inputs import ESTIMATION_INPUTS, RunInputs, identity_of
from mlgo.training.settings import Configurations


@dataclasses.dataclass(frozen=True)
class PreparedCorpus:
    """One of the two corpora as it is compiled."""

    corpus: Corpus  #: optimised if the problem's decisions come after the optimiser.
    digest: str
    not_optimised: Mapping[str, str]  #: module name -> kind of failure of the modules that could not be optimised.


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
        prepared, traces = {}, {}
        for name, corpus in corpora.by_part.items():
            prepared[name] = self._prepare(name, corpus)
            traces[name] = self._trace(name, prepared[name])
        modules = split_modules(
            traces["train"][0].traced, corpora, self._configurations.run, self._inputs, self._unseen_by_start()
        )
        tell(modules.describe())
        start = self._start(traces["train"], modules)
        learned = self._learn(prepared["train"].corpus, traces["train"], modules, start)
        self.learned = learned.summary
        exported = self._export(start, learned)
        comparison = self._evaluate(prepared["held_out"], traces, start, exported) if "held_out" in prepared else None
        training = {
            **self._identity,
            "split": modules.to_json(),
            "not_optimised": {name: dict(part.not_optimised) for name, part in prepared.items()},
            "trace": {name: dict(manifest.summary) for name, (_, manifest) in traces.items()},
            "warm_start": {key: value for key, value in start.summary.items() if key != "epochs"},
            "learning": dict(learned.summary),
            "held_out": comparison and {**comparison.to_json(), "left_out_as_equal": dict(modules.equal)},
        }
        export.write_results(self._folder.results, comparison, self.problem, training)
        self._folder.remove_work()
        growth.finish(self._out)
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

    @property
    def _out(self) -> pathlib.Path:
        return self._inputs.output

    def _check(self) -> RunCorpora:
        inputs, settings = self._inputs, self._configurations.run
        opened = open_corpora(inputs, self.problem)
        corpora = {name: fitting_modules(self.problem, corpus, tell) for name, corpus in opened.by_part.items()}
        for corpus in corpora.values():
            tell_properties(corpus, tell)
        if inputs.vocabulary is not None:
            input_checks.check_vocabulary(inputs.vocabulary, self.problem)
        self._opened = RunFolder(self._out)
        input_checks.check_disk_space(self._out, list(corpora.values()))
        check_compiler(inputs.clang, self.problem)
        if self.problem.is_stock:
            tell("the compiler does not name call sites: every decision is credited with the bytes of its module")
        if not (self._out / run_folder.CONFIGURATION_NAME).exists():
            input_checks.check_modules(corpora["train"], self._setup)
        self._identity = identity_of(inputs, self._configurations, corpora, self.problem)
        resumed = self._folder.claim(self._identity, growth.prepare(self._out, self._identity))
        self._compile_cache = CompileCache(inputs.cache, self._compiled_by())
        counts = ", ".join(f"{len(corpus.modules)} {name}" for name, corpus in corpora.items())
        tell(
            f"{'continuing' if resumed else 'run'} in {self._out}: {settings.problem} by {settings.algorithm},"
            f" {counts} modules, seed {settings.seed}"
        )
        return RunCorpora(corpora, opened.equal)

    def _compile_configuration(self) -> dict[str, Any]:
        settings = self._configurations.run
        return {
            "problem": settings.problem,
            "compile_cpu_seconds": settings.compile_cpu_seconds,
            "max_failure_ratio": settings.max_failure_ratio,
        }

    def _compiled_by(self) -> dict[str, Any]:
        """The inputs of every compile besides its module and the policy."""
        return {
            **self._tools(),
            "problem": self.problem.name,
            "compile_cpu_seconds": self._configurations.run.compile_cpu_seconds,
        }

    def _compiled(self, digest: str) -> dict[str, str]:
        """The inputs of a stage that compiles the corpus with this digest."""
        return {"corpus": digest, **self._tools()}

    def _tools(self) -> dict[str, str]:
        inputs = self._identity["inputs"]
        return {name: inputs[name] for name in ("clang", *ESTIMATION_INPUTS) if name in inputs}

    def _prepare(self, part: str, corpus: Corpus) -> PreparedCorpus:
        if not self.problem.decides_after_optimiser:
            return PreparedCorpus(corpus, corpus.digest, {})
        name = f"optimised/{part}"
        manifest = self._folder.stage(
            name,
            self._compiled(corpus.digest),
            self._compile_configuration(),
            lambda folder: self._compile_cache.optimised(
                folder, corpus, lambda: optimise_corpus(folder, corpus, self._setup, name)
            ),
        )
        optimised = Corpus.load(self._out / name, corpus.allowed_options)
        return PreparedCorpus(optimised, manifest.digest, manifest.summary["failed"])

    def _trace(self, part: str, prepared: PreparedCorpus) -> tuple[Trace, Manifest]:
        name = f"trace/{part}"
        manifest = self._folder.stage(
            name,
            self._compiled(prepared.digest),
            self._compile_configuration(),
            lambda folder: self._compile_cache.traced(
                folder, prepared.corpus, None, True, lambda: trace_corpus(folder, prepared.corpus, self._setup, name)
            ),
        )
        return Trace.load(self._out / name, prepared.corpus), manifest

    def _start(self, traced: tuple[Trace, Manifest], modules: ModuleSplit) -> Manifest:
        configurations, settings = self._configurations, self._configurations.run
        configuration = {"seed": settings.seed, "warm_start": settings.warm_start}
        if (policy := self._inputs.policy) is not None:
            inputs = {"policy": self._identity["inputs"]["policy"]}
            return self._folder.stage(
                "warm_start",
                inputs,
                configuration,
                lambda folder: warm_start.start_from_policy(folder, policy, self.problem),
            )
        vocabulary, digest = vocabulary_of(
            self._folder, self._inputs.vocabulary, traced[0], traced[1], self.problem, configurations
        )
        configuration["network"] = dataclasses.asdict(configurations.network)
        if settings.warm_start == "none":
            return self._folder.stage(
                "warm_start",
                {"vocabulary": digest},
                configuration,
                lambda folder: warm_start.start_randomly(folder, vocabulary, self.problem, configurations),
            )
        manifest = self._folder.stage(
            "warm_start",
            {"trace": traced[1].digest, "vocabulary": digest},
            {
                **configuration,
                "validation_modules": settings.validation_modules,
                "behavioural_cloning": dataclasses.asdict(configurations.behavioural_cloning),
            },
            lambda folder: self._cloned(folder, traced[0], modules.train, vocabulary),
        )
        summary = manifest.summary
        tell(
            f"warm start: repeats {summary['validation_accuracy']:.1%} of the default's decisions in functions it was"
            f" not trained on (always the same one: {summary['majority_accuracy']:.1%})"
        )
        return manifest

    def _cloned(
        self, folder: pathlib.Path, trace: Trace, training: Sequence[str], vocabulary: pathlib.Path
    ) -> Mapping[str, Any]:
        self._start_tensorflow("mlgo.learning.behavioural_cloning")
        return warm_start.clone_default(folder, trace, training, vocabulary, self.problem, self._configurations)

    @staticmethod
    def _start_tensorflow(module: str) -> types.ModuleType:
        """Imports `module`, which imports TensorFlow, and makes TensorFlow deterministic.

        By name, because the import takes seconds and a resumed run may not need it.
        """
        with quiet_libraries():
            found = importlib.import_module(module)
            determinism.configure_tensorflow()
        return found

    def _learn(self, corpus: Corpus, traced: tuple[Trace, Manifest], modules: ModuleSplit, start: Manifest) -> Manifest:
        configurations = self._configurations

        def work(folder: pathlib.Path) -> Mapping[str, Any]:
            loop = self._start_tensorflow("mlgo.training.learning_loop")
            inputs = loop.LearningInputs(
                corpus.select(list(modules.train)),
                corpus.select(list(modules.validation)),
                traced[0].records,
                self._setup,
                [load_any_policy(folder, self.problem)[0] for folder in self._inputs.imitated],
            )
            return loop.LearningLoop(
                folder,
                warm_start.load_start(self._out / "warm_start"),
                inputs,
                configurations,
                self._folder.work,
                figures.Metrics(self._out, self._folder.results),
            ).run()

        inputs = {"trace": traced[1].digest, "warm_start": start.digest, **self._tools()}
        configuration = {
            "imitated": self._identity["inputs"]["imitated"],
            "run": configurations.run.to_json(),
            "divergence": dataclasses.asdict(configurations.divergence),
            configurations.run.algorithm: dataclasses.asdict(configurations.learner),
        }

        results = self._folder.results
        return self._folder.stage(LEARNING, inputs, configuration, work, results, growth.extends)

    def _export(self, start: Manifest, learned: Manifest) -> Manifest:
        def work(folder: pathlib.Path) -> Mapping[str, Any]:
            self._start_tensorflow("mlgo.policy.saved_model")
            candidate = validation.Candidate(learned.summary["chosen_iteration"], learned.summary["validation_ratio"])
            template = warm_start.load_start(self._out / "warm_start")
            network = validation.candidate_network(self._folder.results / LEARNING, candidate, template)
            with quiet_libraries():
                export.export_policy(folder, network, self.problem)
            return {"iteration": candidate.iteration}

        inputs = {"warm_start": start.digest, "learning": learned.digest}
        return self._folder.stage("export", inputs, {}, work, self._folder.results)

    def _evaluate(
        self,
        held_out: PreparedCorpus,
        traces: Mapping[str, tuple[Trace, Manifest]],
        start: Manifest,
        exported: Manifest,
    ) -> Comparison:
        configuration = self._compile_configuration()

        def work_warm_start(folder: pathlib.Path) -> Mapping[str, Any]:
            collection = self._start_tensorflow("mlgo.policy.collection")
            models = collection.CollectionPolicy(self.problem, self._folder.work)
            with quiet_libraries():
                model_dir = models.write(
                    warm_start.load_start(self._out / "warm_start"), "warm_start", exploration_seed=None
                )
            return self._score(folder, held_out, "held-out, warm start", model_dir, start.digest)

        def work_policy(folder: pathlib.Path) -> Mapping[str, Any]:
            model_dir = self._folder.results / "export" / export.TFLITE_NAME
            return self._score(folder, held_out, "held-out, policy", model_dir, exported.digest)

        folder = self._folder
        stages = {
            "warm_start": (start, folder.path, work_warm_start),
            "policy": (exported, folder.results, work_policy),
        }
        if self._configurations.run.warm_start == "none":
            # Random weights are not a useful comparison.
            del stages["warm_start"]
        policies = {}
        for name, (policy, below, work) in stages.items():
            inputs = {**self._compiled(held_out.digest), "policy": policy.digest}
            folder.stage(f"held_out/{name}", inputs, configuration, work, below)
            policies[name] = Trace.load(below / "held_out" / name, held_out.corpus).records
        default = traces["held_out"][0].records
        settings, score = self._configurations.run, score_of(self.problem)
        corpus_score = score.for_corpus({name: record.functions for name, record in default.items()}, settings.reward)
        seen = frozenset(name for record in traces["train"][0].records.values() for name in record.functions if name)
        return compare(
            {DEFAULT: default, **policies},
            corpus_score.comparison_rows,
            score.ratio,
            settings.seed,
            seen,
            score.larger_is_better,
        )

    def _score(
        self, folder: pathlib.Path, part: PreparedCorpus, title: str, model_dir: pathlib.Path, policy: str
    ) -> Mapping[str, Any]:
        """The work of a held-out stage; `policy` is the digest of the model in `model_dir`."""
        return self._compile_cache.traced(
            folder,
            part.corpus,
            policy,
            False,
            lambda: trace_corpus(folder, part.corpus, self._setup, title, model_dir, keep_decisions=False),
        )
