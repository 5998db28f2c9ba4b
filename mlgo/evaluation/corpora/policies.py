"""The policies that an evaluation compares."""

import dataclasses
import functools
import pathlib
from collections.abc import Callable, Mapping

from mlgo.evaluation.corpora.sides import Side
from mlgo.learning.converted_policy import AnyPolicy
from mlgo.policy.greedy_model import write_greedy_model
from mlgo.policy.peer_policy import load_any_policy
from mlgo.problems.problem import Problem
from mlgo.run.manifest import digest_of_json


@dataclasses.dataclass(frozen=True)
class Policies:
    """Attributes: networks, digests: of each policy, by name."""

    networks: Mapping[str, AnyPolicy]
    digests: Mapping[str, str]

    @classmethod
    def load(cls, paths: Mapping[str, pathlib.Path], problem: Problem) -> "Policies":
        """Raises: RunError: a folder holds no policy for `problem`."""
        loaded = {name: load_any_policy(path, problem) for name, path in paths.items()}
        networks = {name: network for name, (network, _) in loaded.items()}
        return cls(networks, {name: digest_of_json(record["sha256"]) for name, (_, record) in loaded.items()})

    def sides(self) -> list[Side]:
        """One side per policy."""
        return [Side(name, digest, policy=name) for name, digest in self.digests.items()]

    def models_in(self, work: pathlib.Path, problem: Problem) -> Callable[[Side], pathlib.Path | None]:
        """A function that gives a side's TFLite model, which it writes below `work` once; None for other sides."""

        @functools.cache
        def model_of(policy: str) -> pathlib.Path:
            return write_greedy_model(self.networks[policy], problem, work, policy)

        return lambda side: model_of(side.policy) if side.policy else None
