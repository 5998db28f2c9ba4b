"""The policies that an evaluation compares."""

import dataclasses
import functools
import pathlib
from collections.abc import Callable, Mapping

from mlgo.evaluation.sides import Side
from mlgo.learning.network import AnyPolicy
from mlgo.policy.greedy_model import write_greedy_model
from mlgo.policy.peer_policy import load_any_policy
from mlgo.problems.problem import Problem
from mlgo.run.manifest import digest_of_json

#: Gives the folder of the TFLite model that a side asks; None: it asks none.
ModelOf = Callable[[Side], pathlib.Path | None]


@dataclasses.dataclass(frozen=True)
class Policies:
    """Policies of one problem; `networks` and `digests` are by name."""

    problem: Problem
    networks: Mapping[str, AnyPolicy]
    digests: Mapping[str, str]

    @classmethod
    def load(cls, paths: Mapping[str, pathlib.Path], problem: Problem) -> "Policies":
        """Raises: RunError: a folder holds no policy for `problem`."""
        loaded = {name: load_any_policy(path, problem) for name, path in paths.items()}
        networks = {name: network for name, (network, _) in loaded.items()}
        return cls(problem, networks, {name: digest_of_json(record["sha256"]) for name, (_, record) in loaded.items()})

    def sides(self, clang: pathlib.Path) -> list[Side]:
        """One side per policy, whose model the development clang `clang` asks."""
        return [
            Side(name, clang, policy=self._policy(name), decides_after_optimiser=self.problem.decides_after_optimiser)
            for name in self.digests
        ]

    def models_in(self, work: pathlib.Path) -> ModelOf:
        """A function that gives a side's TFLite model, which it writes below `work` once."""
        names = {self._policy(name): name for name in self.digests}

        @functools.cache
        def model_of(name: str) -> pathlib.Path:
            return write_greedy_model(self.networks[name], self.problem, work, name)

        return lambda side: model_of(names[side.policy]) if side.policy else None

    def program_sides(self, clang: pathlib.Path, model_of: ModelOf) -> list[Side]:
        """The development clang with each policy, to build programs."""
        return [
            dataclasses.replace(side, model_flags=tuple(self.problem.development_flags(None, str(model_of(side)))))
            for side in self.sides(clang)
        ]

    def _policy(self, name: str) -> str:
        return f"{self.problem.name} {self.digests[name]}"
