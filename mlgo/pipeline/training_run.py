"""A whole training run: the stages in their order, from two corpora to a policy with a held-out score."""

import dataclasses
import importlib
import importlib.metadata
import pathlib
import platform
import shutil
import time
import types
from collections.abc import Callable, Mapping
from typing import Any

from mlgo.compiler.preflight import preflight as check_compiler
from mlgo.corpus.corpus import Corpus
from mlgo.evaluation.held_out import Comparison, compare, rows_to_csv
from mlgo.learning import determinism
from mlgo.learning.configuration import BcConfig, PpoConfig
from mlgo.learning.network import NetworkConfig, PolicyNetwork
from mlgo.problems.problem import load_problem
from mlgo.run import files, stages
from mlgo.run.manifest import Manifest, digest_of_file
from mlgo.pipeline import export, preflight
from mlgo.pipeline.module_order import validation_split
from mlgo.pipeline.settings import RunSettings
from mlgo.run.quiet import quiet_libraries
from mlgo.trace.optimised_corpus import optimise_corpus
from mlgo.trace.setup import CompileSetup, tell
from mlgo.trace.trace import Trace, trace_corpus
from mlgo.trace.vocabulary import VocabularyConfig, build_vocabulary, digest_of_vocabulary

#: Packages whose version can change a result.
_PACKAGES = ("numpy", "tensorflow-cpu", "tf-agents", "tensorflow-probability", "zstandard")

#: Seconds each stage took in this run and in earlier, interrupted ones; the only output that two equal runs differ in.
TIMINGS_NAME = "timings.json"


@dataclasses.dataclass(frozen=True)
class Places:
    """Where a run reads and writes.

    Attributes:
      clang: the development clang.
      train_corpus, held_out_corpus: corpus folders.
      vocabulary: a vocabulary to use; None: one is made from the default trace.
      output: the run's folder.
    """

    clang: pathlib.Path
    train_corpus: pathlib.Path
    held_out_corpus: pathlib.Path
    vocabulary: pathlib.Path | None
    output: pathlib.Path


@dataclasses.dataclass(frozen=True)
class Configurations:
    """The settings of all parts; every field of every part belongs to the run's identity."""

    run: RunSettings
    vocabulary: VocabularyConfig
    network: NetworkConfig
    behavioural_cloning: BcConfig
    ppo: PpoConfig

    def to_json(self) -> dict[str, Any]:
        """Every field of every part by name."""
        return {field.name: dataclasses.asdict(getattr(self, field.name)) for field in dataclasses.fields(self)}


class TrainingRun:
    """One run.

    Args:
      places: where it reads and writes.
      configurations: what decides its result, beside what it reads.
      workers: compiles at a time; changes no result.
    """

    def __init__(self, places: Places, configurations: Configurations, workers: int):
        self._places, self._configurations = places, configurations
        settings = configurations.run
        self._problem = load_problem(settings.problem)
        self._setup = CompileSetup(
            places.clang, self._problem, settings.limits, workers, settings.max_failure_ratio
        )
        self._out = places.output
        self._work = places.output / "work"
        self._lock = -1
        self._seconds: dict[str, float] = {}
        self._identity: dict[str, Any] = {}

    def run(self) -> Comparison:
        """Does everything that is left to do.

        Returns: the held-out comparison of "warm_start" and "policy" with the compiler's default.
        Raises: RunError: something is not as a stage needs it.
        """
        corpora = self._check()
        optimised, traces = {}, {}
        for part, corpus in corpora.items():
            optimised[part] = self._optimise(part, corpus)
            traces[part] = self._trace(part, *optimised[part])
        training, validation = validation_split(
            traces["train"][0].traced, self._configurations.run.validation_modules, self._configurations.run.seed
        )
        vocabulary, digest = self._vocabulary(traces["train"])
        warm_start = self._warm_start(traces["train"], training, vocabulary, digest)
        ppo = self._reinforce(optimised["train"][0], traces["train"], training, validation, vocabulary, warm_start)
        exported = self._export(vocabulary, warm_start, ppo)
        comparison = self._evaluate(optimised["held_out"], traces, vocabulary, warm_start, exported)
        failed = {part: manifest.summary["failed"] for part, (_, manifest) in optimised.items()}
        self._report(comparison, failed, traces, warm_start, ppo)
        shutil.rmtree(self._work, ignore_errors=True)
        return comparison

    def _check(self) -> dict[str, Corpus]:
        """Everything that can be known before the first compile; then the run owns its folder."""
        places, settings = self._places, self._configurations.run
        corpora = {"train": Corpus.load(places.train_corpus), "held_out": Corpus.load(places.held_out_corpus)}
        preflight.check_corpora(corpora["train"], corpora["held_out"])
        if places.vocabulary is not None:
            preflight.check_vocabulary(places.vocabulary, self._problem)
        self._lock = preflight.open_output(self._out)
        preflight.check_disk_space(self._out, list(corpora.values()))
        check_compiler(places.clang, self._problem)
        self._identity = {
            "configuration": self._configurations.to_json(),
            "inputs": {
                **{f"{part}_corpus": corpus.digest for part, corpus in corpora.items()},
                "clang": digest_of_file(places.clang),
                "vocabulary": places.vocabulary and digest_of_vocabulary(places.vocabulary, self._problem),
            },
            "versions": _versions(),
        }
        shutil.rmtree(self._work, ignore_errors=True)
        files.remove_partial(self._out)
        resumed = preflight.claim_configuration(self._out, self._identity)
        if (self._out / TIMINGS_NAME).exists():
            self._seconds = files.read_json(self._out / TIMINGS_NAME, "timings", "Delete the file")
        counts = ", ".join(f"{len(corpus.modules)} {part}" for part, corpus in corpora.items())
        tell(f"{'continuing' if resumed else 'run'} in {self._out}: {counts} modules, seed {settings.seed}")
        return corpora

    def _stage(
        self,
        name: str,
        inputs: Mapping[str, str],
        configuration: Mapping[str, Any],
        work: Callable[[pathlib.Path], Mapping[str, Any]],
    ) -> Manifest:
        def timed(folder: pathlib.Path) -> Mapping[str, Any]:
            begin = time.monotonic()
            try:
                return work(folder)
            finally:
                self._seconds[name] = round(self._seconds.get(name, 0.0) + time.monotonic() - begin, 1)
                files.write_json_atomically(self._out / TIMINGS_NAME, self._seconds)

        return stages.run_once(self._out / name, name, inputs, configuration, timed, tell)

    def _compile_configuration(self) -> dict[str, Any]:
        settings = self._configurations.run
        return {
            "problem": settings.problem,
            "compile_cpu_seconds": settings.compile_cpu_seconds,
            "max_failure_ratio": settings.max_failure_ratio,
        }

    def _optimise(self, part: str, corpus: Corpus) -> tuple[Corpus, Manifest]:
        name = f"optimised/{part}"
        inputs = {"corpus": corpus.digest, "clang": self._identity["inputs"]["clang"]}
        manifest = self._stage(
            name, inputs, self._compile_configuration(), lambda folder: optimise_corpus(folder, corpus, self._setup, name)
        )
        return Corpus.load(self._out / name), manifest

    def _trace(self, part: str, corpus: Corpus, optimised: Manifest) -> tuple[Trace, Manifest]:
        name = f"trace/{part}"
        inputs = {"corpus": optimised.digest, "clang": self._identity["inputs"]["clang"]}
        manifest = self._stage(
            name, inputs, self._compile_configuration(), lambda folder: trace_corpus(folder, corpus, self._setup, name)
        )
        return Trace.load(self._out / name, corpus), manifest

    def _vocabulary(self, traced: tuple[Trace, Manifest]) -> tuple[pathlib.Path, str]:
        """The vocabulary's folder and digest."""
        folder = self._places.vocabulary
        if folder is None:
            folder = self._out / "vocabulary"
            config, seed = self._configurations.vocabulary, self._configurations.run.seed
            self._stage(
                "vocabulary",
                {"trace": traced[1].digest},
                {**dataclasses.asdict(config), "seed": seed},
                lambda folder: build_vocabulary(folder, traced[0], self._problem, config, seed),
            )
        return folder, digest_of_vocabulary(folder, self._problem)

    def _warm_start(
        self, traced: tuple[Trace, Manifest], training: list[str], vocabulary: pathlib.Path, vocabulary_digest: str
    ) -> Manifest:
        configurations = self._configurations

        def work(folder: pathlib.Path) -> Mapping[str, Any]:
            warm_start = self._start_tensorflow("warm_start")
            return warm_start.clone_default(
                folder,
                traced[0],
                training,
                vocabulary,
                self._problem,
                configurations.run.seed,
                configurations.network,
                configurations.behavioural_cloning,
            )

        manifest = self._stage(
            "warm_start",
            {"trace": traced[1].digest, "vocabulary": vocabulary_digest},
            {
                "seed": configurations.run.seed,
                "validation_modules": configurations.run.validation_modules,
                "network": dataclasses.asdict(configurations.network),
                "behavioural_cloning": dataclasses.asdict(configurations.behavioural_cloning),
            },
            work,
        )
        summary = manifest.summary
        tell(
            f"warm start: repeats {summary['validation_accuracy']:.1%} of the default's decisions in functions it was not"
            f" trained on (always the same position: {summary['majority_accuracy']:.1%})"
        )
        return manifest

    @staticmethod
    def _start_tensorflow(stage: str) -> types.ModuleType:
        """The pipeline's module `stage`, which imports TensorFlow, with TensorFlow set up to repeat itself."""
        with quiet_libraries():
            module = importlib.import_module(f"mlgo.pipeline.{stage}")
            determinism.configure_tensorflow()
        return module

    def _network(self, vocabulary: pathlib.Path) -> PolicyNetwork:
        from mlgo.pipeline import warm_start  # pylint: disable=import-outside-toplevel

        return warm_start.load_warm_start(self._out / "warm_start", vocabulary, self._problem)

    def _reinforce(
        self,
        corpus: Corpus,
        traced: tuple[Trace, Manifest],
        training: list[str],
        validation: list[str],
        vocabulary: pathlib.Path,
        warm_start: Manifest,
    ) -> Manifest:
        configurations = self._configurations

        def work(folder: pathlib.Path) -> Mapping[str, Any]:
            reinforcement = self._start_tensorflow("reinforcement")
            return reinforcement.Reinforcement(
                folder,
                self._network(vocabulary),
                corpus.select(training),
                corpus.select(validation),
                traced[0].records,
                self._setup,
                configurations.run,
                configurations.ppo,
                self._work,
                self._out / "tensorboard",
            ).run()

        inputs = {"trace": traced[1].digest, "warm_start": warm_start.digest, "clang": self._identity["inputs"]["clang"]}
        configuration = {
            "run": configurations.run.to_json(),
            "ppo": dataclasses.asdict(configurations.ppo),
        }
        return self._stage("ppo", inputs, configuration, work)

    def _export(self, vocabulary: pathlib.Path, warm_start: Manifest, ppo: Manifest) -> Manifest:
        def work(folder: pathlib.Path) -> Mapping[str, Any]:
            reinforcement = self._start_tensorflow("reinforcement")
            candidate = reinforcement.Candidate(ppo.summary["chosen_iteration"], ppo.summary["validation_ratio"])
            network = reinforcement.candidate_network(self._out / "ppo", candidate, self._network(vocabulary))
            with quiet_libraries():
                export.export_policy(folder, network, self._problem)
            return {"iteration": candidate.iteration}

        return self._stage("export", {"warm_start": warm_start.digest, "ppo": ppo.digest}, {}, work)

    def _evaluate(
        self,
        optimised: tuple[Corpus, Manifest],
        traces: Mapping[str, tuple[Trace, Manifest]],
        vocabulary: pathlib.Path,
        warm_start: Manifest,
        exported: Manifest,
    ) -> Comparison:
        corpus = optimised[0]
        configuration = self._compile_configuration()

        def work_warm_start(folder: pathlib.Path) -> Mapping[str, Any]:
            self._start_tensorflow("reinforcement")
            from mlgo.policy.collection import CollectionPolicy  # pylint: disable=import-outside-toplevel

            models = CollectionPolicy(self._problem, self._work)
            with quiet_libraries():
                model_dir = models.write(self._network(vocabulary), "warm_start", exploration_seed=None)
            return trace_corpus(folder, corpus, self._setup, "held-out, warm start", model_dir, keep_decisions=False)

        def work_policy(folder: pathlib.Path) -> Mapping[str, Any]:
            model_dir = self._out / "export" / export.TFLITE_NAME
            return trace_corpus(folder, corpus, self._setup, "held-out, policy", model_dir, keep_decisions=False)

        inputs = {"corpus": optimised[1].digest, "clang": self._identity["inputs"]["clang"]}
        works = {"warm_start": (warm_start, work_warm_start), "policy": (exported, work_policy)}
        policies = {}
        for name, (policy, work) in works.items():
            self._stage(f"held_out/{name}", {**inputs, "policy": policy.digest}, configuration, work)
            policies[name] = Trace.load(self._out / "held_out" / name, corpus).records
        seen = frozenset(name for record in traces["train"][0].records.values() for name in record.functions)
        return compare(self._problem, traces["held_out"][0].records, policies, seen, self._configurations.run.seed)

    def _report(
        self,
        comparison: Comparison,
        not_optimised: Mapping[str, Mapping[str, str]],
        traces: Mapping[str, tuple[Trace, Manifest]],
        warm_start: Manifest,
        ppo: Manifest,
    ) -> None:
        """Writes what people and later commands look at: record, figures, table of functions."""
        from mlgo.pipeline import figures  # pylint: disable=import-outside-toplevel

        iterations, validations = figures.read_metrics(self._out / "ppo")
        files.write_atomically(self._out / "metrics.jsonl", figures.metrics_lines(iterations, validations))
        with quiet_libraries():
            curve = figures.learning_curve(iterations, validations, ppo.summary["chosen_iteration"])
        files.write_atomically(self._out / "learning_curve.png", curve)
        files.write_atomically(self._out / "held_out" / "functions.csv", rows_to_csv(comparison.rows, ["warm_start", "policy"]))
        files.write_json_atomically(self._out / "held_out" / "result.json", comparison.to_json())
        export.publish_policy(
            self._out / "export",
            self._out / "policy",
            {
                **self._identity,
                "not_optimised": not_optimised,
                "trace": {part: dict(manifest.summary) for part, (_, manifest) in traces.items()},
                "warm_start": {key: value for key, value in warm_start.summary.items() if key != "epochs"},
                "ppo": dict(ppo.summary),
                "held_out": comparison.to_json(),
            },
        )


def _versions() -> dict[str, str]:
    found = {"python": platform.python_version()}
    for package in _PACKAGES:
        try:
            found[package] = importlib.metadata.version(package)
        except importlib.metadata.PackageNotFoundError:
            found[package] = "unknown"
    return found
