"""Compiles modules under the default and under a policy, and asks the policy about the states of these compiles."""

import dataclasses
import functools
import pathlib
from collections.abc import Mapping

from mlgo.corpus.corpus import Corpus
from mlgo.explanation import recorded
from mlgo.explanation.queried_policy import QueriedPolicy, queried_policy
from mlgo.explanation.replay import Replay, replay
from mlgo.learning.network import AnyPolicy
from mlgo.policy.greedy_model import write_greedy_model
from mlgo.problems.problem import Problem
from mlgo.run.exit_codes import ExitCode, RunError
from mlgo.run.manifest import digest_of_json
from mlgo.run.run_folder import RunFolder
from mlgo.trace.setup import CompileSetup


@dataclasses.dataclass(frozen=True)
class Explainer:
    """A policy, its digest, and the corpus that it is explained on; `cxxfilt` None: names stay mangled."""

    problem: Problem
    policy: AnyPolicy
    digest: str
    corpus: Corpus
    folder: RunFolder
    setup: CompileSetup
    clang_digest: str
    cxxfilt: pathlib.Path | None

    @functools.cached_property
    def asked(self) -> QueriedPolicy:
        return queried_policy(self.policy, self.problem)

    def compiled(self, name: str, corpus: Corpus, under_policy: bool) -> pathlib.Path:
        """The folder with the decisions recorded in `corpus`. Raises: RunError: too many modules fail."""
        side = "policy" if under_policy else "default"

        def work(folder: pathlib.Path) -> Mapping[str, int]:
            model = None
            if under_policy:
                model = write_greedy_model(self.policy, self.problem, self.folder.work, "explained")
            return recorded.record_corpus(folder, corpus, self.setup, f"{name}, {side}", model)

        digest = self.digest if under_policy else ""
        inputs = {"clang": self.clang_digest, "corpus": self.corpus.digest, "policy": digest}
        configuration = {
            "problem": self.problem.name,
            "modules": digest_of_json([module.name for module in corpus.modules]),
            "compile_cpu_seconds": self.setup.limits.cpu_seconds,
        }
        self.folder.stage(f"{name}/{side}", inputs, configuration, work)
        return self.folder.path / name / side

    def replayed(self, folder: pathlib.Path, module: str, check: bool) -> Replay | None:
        """The policy's answers in the recorded states of a module; None: there are none.

        Raises: RunError: `check`, and the answers are others, though the policy took these decisions.
        """
        found = recorded.load(folder, module, self.problem)
        if found is None:
            return None
        answers = replay(self.asked, found)
        wrong = answers.disagreements if check else 0
        if wrong > self.asked.allowed_mismatch * len(found):
            raise RunError(
                f"decisions of {module}",
                f"{wrong} of {len(found)} decisions of the compiler differ from those of the policy, asked again",
                "This is a defect of mlgo; please report it with the policy and the module",
                ExitCode.INTERNAL_ERROR,
            )
        return answers
