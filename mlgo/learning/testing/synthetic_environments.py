"""Made-up optimisations with known best policies, one for each kind of decision, for tests: no compiler, only
arithmetic.

A module has FUNCTIONS functions, a function STEPS decisions, and only the whole function has a score (a cost, less is
better), as in LLVM. Decisions of a function interact, so what is best here is not what looks best at each decision
alone:

    choice    of up to five positions take one; each has a cost, and the position taken last costs REUSE_COST more.
              Best: the lowest sum of both. Default: the lowest legal position.
    binary    yes saves `gain` in -1 .. 1, and CHAIN_GAIN more after a yes. Best by backward induction: yes from a gain
              below 0 on, for the sake of the next one. Default: yes if the gain is above 0.5.
    number    jobs with weights and lengths are done in the order of the numbers, highest first; the cost is the sum of
              weights times completion times. Best: weight / length (Smith, 1956). Default: the weight.
"""

import dataclasses
from collections.abc import Callable, Mapping, Sequence

import numpy as np

from mlgo.learning.exact_network import exact_network
from mlgo.learning.learner import Learner, Sample, Variant
from mlgo.learning.network import PolicyNetwork, deviation_of
from mlgo.learning.normalization import Normalizer, build_normalizer
from mlgo.learning.observations import Observations, concatenate, pack
from mlgo.learning.testing import synthetic
from mlgo.problems.tensor import TensorSpec
from mlgo.run.determinism import generator

FUNCTIONS, STEPS = 8, 8
REUSE_COST = 0.3
CHAIN_GAIN = 0.4

_QUANTILES = np.linspace(0, 1, 101)

#: Features of one step for F functions, [F, *shape of the observation].
Features = Mapping[str, np.ndarray]
#: Decides one step: (features, kind-dependent state) -> [F] actions as logged.
Decider = Callable[[Features, int], np.ndarray]


class CategoricalEnvironment:
    """See the module's docstring; observations are those of synthetic.py."""

    problem = synthetic.PROBLEM
    normalizer = synthetic.normalizer()
    base_cost = 1.0

    def start(self, random: np.random.Generator, functions: int) -> dict[str, np.ndarray]:
        steps = synthetic.features(random, functions * STEPS)
        state = {name: value.reshape(functions, STEPS, *value.shape[1:]) for name, value in steps.items()}
        return state | {"last": np.full(functions, -1)}

    def features(self, state, step: int) -> Features:
        shown = {spec.name: state[spec.name][:, step] for spec in self.problem.observation_specs}
        used = np.arange(synthetic.POSITIONS) == state["last"][:, None]
        return shown | {"kind": np.where(shown["legal"] > 0, used[:, None], 0).astype(np.int64)}

    def costs(self, state, step: int, shown: Features, actions: np.ndarray) -> np.ndarray:
        rows = np.arange(len(actions))
        state["last"] = actions
        return shown["cost"][rows, 0, actions] + REUSE_COST * shown["kind"][rows, 0, actions]

    def best(self, shown: Features, step: int) -> np.ndarray:
        return np.where(shown["legal"] > 0, shown["cost"] + REUSE_COST * shown["kind"], np.inf)[:, 0].argmin(axis=1)

    def default(self, shown: Features, step: int) -> np.ndarray:
        return (shown["legal"][:, 0] > 0).argmax(axis=1)


class BinaryEnvironment:
    """See the module's docstring."""

    problem = synthetic.binary_problem(
        "synthetic_binary", {"gain": "float32", "after_yes": "int64", "progress": "float32", "noise": "float32"}
    )
    normalizer = build_normalizer(
        {"gain": 2 * _QUANTILES - 1, "after_yes": np.array([0.0, 1]), "progress": _QUANTILES, "noise": _QUANTILES},
        problem,
    )
    base_cost = 2.0 * STEPS

    def start(self, random: np.random.Generator, functions: int) -> dict[str, np.ndarray]:
        shape = (functions, STEPS, 1)
        return {
            "gain": random.uniform(-1, 1, shape).astype(np.float32),
            "noise": random.random(shape).astype(np.float32),
            "last": np.zeros(functions, np.int64),
        }

    def features(self, state, step: int) -> Features:
        return {
            "gain": state["gain"][:, step],
            "after_yes": state["last"][:, None],
            "progress": np.full((len(state["last"]), 1), step / STEPS, np.float32),
            "noise": state["noise"][:, step],
        }

    def costs(self, state, step: int, shown: Features, actions: np.ndarray) -> np.ndarray:
        state["last"] = actions
        return -actions * (shown["gain"][:, 0] + CHAIN_GAIN * shown["after_yes"][:, 0])

    def best(self, shown: Features, step: int) -> np.ndarray:
        later = 0.0  # What a yes is worth to the steps after it; gains are uniform in -1 .. 1.
        for _ in range(STEPS - 1 - step):
            later = CHAIN_GAIN * (2 + 2 * later + CHAIN_GAIN) / 4
        return (shown["gain"][:, 0] + CHAIN_GAIN * shown["after_yes"][:, 0] + later > 0).astype(np.int64)

    def default(self, shown: Features, step: int) -> np.ndarray:
        return (shown["gain"][:, 0] > 0.5).astype(np.int64)


class ContinuousEnvironment:
    """See the module's docstring."""

    problem = dataclasses.replace(
        synthetic.PROBLEM,
        folder="synthetic_number",
        observation_specs=(TensorSpec("weight", "float32", (1,)), TensorSpec("length", "float32", (1,))),
        action_spec=TensorSpec("priority", "float32", (1,)),
        action_count=None,
        mask_feature=None,
        decision_kind="continuous",
        action_bounds=(0.0, 16.0),
        max_output=15.0,
        output_unit=0.5,
    )
    normalizer = build_normalizer({"weight": _QUANTILES, "length": 0.1 + 0.9 * _QUANTILES}, problem)
    base_cost = 0.0

    def start(self, random: np.random.Generator, functions: int) -> dict[str, np.ndarray]:
        shape = (functions, STEPS, 1)
        return {
            "weight": random.random(shape).astype(np.float32),
            "length": random.uniform(0.1, 1, shape).astype(np.float32),
            "numbers": np.zeros((functions, STEPS)),
        }

    def features(self, state, step: int) -> Features:
        return {name: state[name][:, step] for name in ("weight", "length")}

    def costs(self, state, step: int, shown: Features, actions: np.ndarray) -> np.ndarray:
        state["numbers"][:, step] = actions
        if step < STEPS - 1:
            return np.zeros(len(actions))
        order = np.argsort(-state["numbers"], axis=1, kind="stable")
        weight, length = (np.take_along_axis(state[name][..., 0], order, axis=1) for name in ("weight", "length"))
        return (weight * np.cumsum(length, axis=1)).sum(axis=1)

    def best(self, shown: Features, step: int) -> np.ndarray:
        return np.minimum(shown["weight"] / shown["length"], 7.5)[:, 0].astype(np.float32)

    def default(self, shown: Features, step: int) -> np.ndarray:
        return shown["weight"][:, 0]


Environment = CategoricalEnvironment | BinaryEnvironment | ContinuousEnvironment


@dataclasses.dataclass(frozen=True)
class Episode:
    """Finished functions of some modules: decisions in the order of modules, functions, steps; costs [functions]."""

    observations: Observations
    costs: np.ndarray


def play(
    environment: Environment, modules: Sequence[int], decider: Decider, normalizer: Normalizer | None = None
) -> Episode:
    """All decisions of these modules; what the functions hold depends on the modules' numbers only."""
    starts = [environment.start(generator(0, "module", module), FUNCTIONS) for module in modules]
    state = {name: np.concatenate([each[name] for each in starts]) for name in starts[0]}
    functions = FUNCTIONS * len(modules)
    cost = np.full(functions, environment.base_cost)
    packed = []
    for step in range(STEPS):
        shown = environment.features(state, step)
        actions = decider(shown, step)
        cost = cost + environment.costs(state, step, shown, actions)
        groups = np.arange(functions)
        packed.append(pack(shown, actions, normalizer or environment.normalizer, environment.problem, groups))
    joined = dataclasses.replace(concatenate(packed), group=np.tile(np.arange(functions), STEPS))
    by_function = np.arange(functions * STEPS).reshape(STEPS, functions).T.reshape(-1)
    return Episode(joined.select(by_function), cost)


def decider_of(environment: Environment, variant: Variant, seed: int) -> Decider:
    """Decides as the compiler with this variant's model would; `seed` is of what is drawn."""
    network, kind = variant.network, environment.problem.decision_kind
    assert isinstance(network, PolicyNetwork)
    exact = exact_network(network.weights)
    random = generator(seed, "draws")

    def decide(shown: Features, step: int) -> np.ndarray:
        packed = pack(shown, environment.default(shown, step), network.normalizer, environment.problem)
        if not variant.exploring:
            answers = exact.decisions(packed)
        elif kind == "categorical":
            noisy = exact.row_logits(packed.levels) + random.gumbel(size=packed.row_count)
            best = np.repeat(np.maximum.reduceat(noisy, packed.offsets[:-1]), np.diff(packed.offsets))
            answers = packed.positions[np.flatnonzero(noisy == best)]
        elif kind == "binary":
            answers = (exact.row_logits(packed.levels) + random.logistic(size=len(packed)) > 0).astype(np.int64)
        else:
            noise = random.standard_normal(len(packed)) * deviation_of(network)
            noisy = (exact.row_logits(packed.levels) + noise).astype(np.float32)
            answers = np.clip(noisy, 0, np.float32(packed.max_output))
        return answers * np.float32(environment.problem.output_unit) if kind == "continuous" else answers

    return decide


def samples_of(
    environment: Environment, modules: Sequence[int], variants: Sequence[Variant], seed: int, decisions: bool = True
) -> list[Sample]:
    """What an iteration's compiles give, by module, then by variant; without `decisions` scores only."""
    default = play(environment, modules, environment.default).costs
    by_variant = []
    for index, variant in enumerate(variants):
        decide = decider_of(environment, variant, seed * 1000 + index)
        assert isinstance(variant.network, PolicyNetwork)
        episode = play(environment, modules, decide, variant.network.normalizer)
        by_variant.append((episode.observations, 1.0 - episode.costs / default))
    contexts = tuple(f"function {index}" for index in range(FUNCTIONS))
    samples = []
    for place, module in enumerate(modules):
        functions = slice(place * FUNCTIONS, (place + 1) * FUNCTIONS)
        which = np.arange(functions.start * STEPS, functions.stop * STEPS)
        for index, (observations, improvements) in enumerate(by_variant):
            here = improvements[functions]
            sample = Sample(str(module), index, float(here.mean()), 1.0)
            if decisions:
                part = observations.select(which)
                part = dataclasses.replace(part, group=part.group - functions.start)
                credits = dict(zip(contexts, here.tolist()))
                sample = dataclasses.replace(sample, observations=part, contexts=contexts, credits=credits)
            samples.append(sample)
    return samples


def improvement(environment: Environment, decider: Decider, modules: Sequence[int]) -> float:
    """Mean over functions of 1 - cost / the default's cost."""
    default = play(environment, modules, environment.default).costs
    return float(np.mean(1.0 - play(environment, modules, decider).costs / default))


#: Modules that no test trains on.
HELD_OUT = range(10_000, 10_040)


def share_of_optimum(environment: Environment, network: PolicyNetwork) -> float:
    """How much of the best policy's improvement over the default the greedy `network` reaches on modules never seen."""
    greedy = decider_of(environment, Variant(network, exploring=False), 0)
    return improvement(environment, greedy, HELD_OUT) / improvement(environment, environment.best, HELD_OUT)


def train(environment: Environment, learner: Learner, iterations: int, modules: int, seed: int = 0) -> list[dict]:
    """The loop of learner.py; returns the metrics of every iteration."""
    metrics = []
    for iteration in range(iterations):
        which = range(iteration * modules, (iteration + 1) * modules)
        samples = samples_of(environment, which, learner.variants(iteration), seed + iteration, learner.needs_decisions)
        metrics.append(dict(learner.update(iteration, samples)))
    return metrics
