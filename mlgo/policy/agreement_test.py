"""Every runtime decides as the NumPy reference does, bit for bit, for every kind of decision and any observation."""

import dataclasses
import functools
import unittest
from collections.abc import Callable, Mapping

import hypothesis
import numpy as np
import tensorflow as tf
from hypothesis import strategies

from mlgo.learning.exact_network import exact_network
from mlgo.learning.network import PolicyNetwork, initial_network
from mlgo.learning.normalization import Column, Normalizer
from mlgo.learning.observations import pack
from mlgo.learning.testing import synthetic
from mlgo.learning.testing.synthetic import EVERY_TYPE
from mlgo.policy import graph
from mlgo.policy.checks import known_features
from mlgo.policy.reference import decide, decide_many
from mlgo.policy.tflite import TfliteTemplate
from mlgo.problems.problem import Problem, load_problem
from mlgo.run.exit_codes import RunError

# No deadline and no complaint about slowness: the machine may be busy. No database: tests leave nothing behind.
hypothesis.settings.register_profile(
    "mlgo",
    deadline=None,
    database=None,
    derandomize=True,
    max_examples=60,
    suppress_health_check=[hypothesis.HealthCheck.too_slow],
)
hypothesis.settings.load_profile("mlgo")

PROBLEMS = ("inlining_for_size", "regalloc_eviction", "regalloc_priority")

_OTHER_INTEGERS = ("int8", "uint8", "int16", "int32", "uint32")
#: A feature of each type that TensorFlow Lite converts.
_CONVERTIBLE = dataclasses.replace(
    EVERY_TYPE,
    observation_specs=tuple(
        spec for spec in EVERY_TYPE.observation_specs if spec.dtype in ("float32", "int64", *_OTHER_INTEGERS)
    ),
)

#: Knots of the columns of every feature. Between the last two float32 has only even numbers: how 2^24 + 1 is rounded
#: shows.
_KNOTS = {
    "int64": ((-300, 0), (0, 5), (5, 1000), (2**24, 2**24 + 192)),
    "float32": ((-1.0, 0.0), (0.0, 2.0**-20), (2.0**-20, 1.0), (1.0, 1e30)),
    **dict.fromkeys(_OTHER_INTEGERS, ((-100, 0), (0, 5), (5, 120), (2**31, 2**32))),
}
_INTEGERS = [0, 1, -1, 2, 4, 5, 6, 64, 1000, -300, 2**24 + 1, 2**24 + 3, 2**31, 2**53 + 1, 2**63 - 1, -(2**63)]
_FLOATS = [0.0, -0.0, 1.0, 0.5, 2.0**-20, 1e-42, -1e-42, 3e38, np.inf, -np.inf, np.nan]
_WITH_EMBEDDINGS = "inlining_for_size+ir2vec.3.0123456789abcdef"

_ELEMENTS = {
    "int64": strategies.one_of(strategies.sampled_from(_INTEGERS), strategies.integers(-(2**63), 2**63 - 1)),
    "float32": strategies.one_of(strategies.sampled_from(_FLOATS), strategies.floats(width=32)).map(np.float32),
    **{dtype: strategies.integers(int(np.iinfo(dtype).min), int(np.iinfo(dtype).max)) for dtype in _OTHER_INTEGERS},
}


def _network(problem: Problem, without: str | None = None) -> PolicyNetwork:
    """A network with outputs that reach both ends of the decisions."""
    specs = [spec for spec in problem.observation_specs if spec.name not in (problem.mask_feature, without)]
    columns = tuple(
        Column(name, *knots) for spec in specs for name in problem.elements(spec) for knots in _KNOTS[spec.dtype]
    )
    normalizer = Normalizer(problem.name, columns, (), mark_last_position=problem.mask_feature is not None)
    network = synthetic.as_trained(initial_network(normalizer, 3), 3)
    output = np.array(network.weights["policy/logits/kernel"])
    if problem.decision_kind == "binary":
        output -= output.mean()
    if problem.decision_kind == "continuous":
        output *= np.float32(1000)
    return network.with_weights({**network.weights, "policy/logits/kernel": output})


def _made_up(problem: Problem, random: np.random.Generator, *count: int) -> dict[str, np.ndarray]:
    """Observations with NaN, infinities, subnormal and huge numbers among others."""
    values = {"int64": _INTEGERS, "float32": [*_FLOATS, *random.random(8)]}
    return {
        spec.name: random.choice(values[spec.dtype], (*count, *spec.shape)).astype(spec.dtype)
        for spec in problem.observation_specs
    }


class TfliteModel:
    def __init__(self, model: bytes, **options):
        self._interpreter = tf.lite.Interpreter(model_content=model, **options)
        self._interpreter.allocate_tensors()
        inputs = self._interpreter.get_input_details()
        self._inputs = {each["name"].removeprefix("action_").removesuffix(":0"): each["index"] for each in inputs}
        self._output = self._interpreter.get_output_details()[0]["index"]

    def __call__(self, observation) -> np.ndarray:
        for name, index in self._inputs.items():
            self._interpreter.set_tensor(index, observation[name])
        self._interpreter.invoke()
        return self._interpreter.get_tensor(self._output)


class Backends:
    """The same policy in TensorFlow, XLA and TensorFlow Lite; each is a function from an observation to a decision."""

    def __init__(self, problem: Problem, network: PolicyNetwork):
        exact = exact_network(network.weights)
        self.known = known_features(network.normalizer, problem)
        policy = graph.build_graph(problem, network.normalizer, exact)
        wrapped = tf.compat.v1.wrap_function(
            lambda *inputs: tf.graph_util.import_graph_def(
                policy.graph.as_graph_def(),
                {placeholder.op.name: value for placeholder, value in zip(policy.inputs.values(), inputs)},
                [policy.output.name],
            )[0],
            [tf.TensorSpec(tensor.shape, tensor.dtype) for tensor in policy.inputs.values()],
        )
        model = TfliteTemplate(network, problem, exploring=False).model(exact)
        # LLVM's resolver has no delegates; Python's default one has XNNPACK.
        plain = tf.lite.experimental.OpResolverType.BUILTIN_WITHOUT_DEFAULT_DELEGATES
        self.runs: dict[str, Callable[[Mapping[str, np.ndarray]], np.ndarray]] = {
            "TensorFlow": functools.partial(self._tensorflow, wrapped),
            "XLA": functools.partial(self._tensorflow, tf.function(wrapped, jit_compile=True)),
            "TensorFlow Lite": TfliteModel(model, experimental_op_resolver_type=plain),
            "XNNPACK": TfliteModel(model),
        }

    def _tensorflow(self, function, observation) -> np.ndarray:
        return function(*[tf.constant(observation[name]) for name in self.known]).numpy()


@functools.cache
def _prepared(name: str, without: str | None = None) -> tuple[Problem, PolicyNetwork, Backends]:
    problem = _CONVERTIBLE if name == _CONVERTIBLE.name else load_problem(name)
    network = _network(problem, without)
    return problem, network, Backends(problem, network)


@strategies.composite
def _observations(draw, problem: Problem):
    """Drawn values, in drawn places: 693 values drawn one by one (eviction) are more than hypothesis shrinks or even
    makes.
    """
    used = {spec.dtype for spec in problem.observation_specs}
    drawn = {
        dtype: draw(strategies.lists(elements, min_size=1, max_size=12))
        for dtype, elements in _ELEMENTS.items()
        if dtype in used
    }
    random = np.random.default_rng(draw(strategies.integers(0, 2**32 - 1)))
    return {
        spec.name: random.choice(np.array(drawn[spec.dtype], spec.dtype), spec.shape)
        for spec in problem.observation_specs
    }


class AgreementTest(unittest.TestCase):
    def check(self, name: str, observation, without: str | None = None) -> np.ndarray:
        problem, network, backends = _prepared(name, without)
        expected = decide(network, problem, observation)
        self.assertEqual((expected.dtype, expected.shape), (problem.action_spec.dtype, problem.action_spec.shape))
        for backend, run in backends.runs.items():
            found = run(observation)
            same = found.dtype == expected.dtype and found.tobytes() == expected.tobytes()
            self.assertTrue(same, f"{backend}: {found} instead of {expected}")
        return expected

    @hypothesis.given(_observations(load_problem(_WITH_EMBEDDINGS)))
    def test_inlining_with_embeddings(self, observation):
        self.check(_WITH_EMBEDDINGS, observation)

    @hypothesis.given(_observations(load_problem("inlining_for_size")))
    def test_inlining(self, observation):
        self.check("inlining_for_size", observation)

    @hypothesis.given(_observations(load_problem("regalloc_eviction")))
    def test_eviction(self, observation):
        self.check("regalloc_eviction", observation)

    @hypothesis.given(_observations(load_problem("regalloc_priority")))
    def test_priority(self, observation):
        self.check("regalloc_priority", observation)

    @hypothesis.given(_observations(_CONVERTIBLE))
    def test_every_type_that_can_be_converted(self, observation):
        self.check(_CONVERTIBLE.name, observation)

    def test_a_type_that_cannot_be_converted(self):
        for dtype, log_type in (("float64", "double"), ("uint16", "uint16_t"), ("uint64", "uint64_t")):
            feature = EVERY_TYPE.observation_spec(f"one_{dtype}")
            problem = dataclasses.replace(EVERY_TYPE, observation_specs=(feature,))
            network = initial_network(Normalizer(problem.name, (Column(feature.name, 0, 5),), (), False), 1)
            with self.assertRaisesRegex(RunError, f"one_{dtype} of every_type: is of the type {log_type}, which"):
                TfliteTemplate(network, problem, exploring=False)

    def test_ordinary_observations_reach_every_kind_of_answer(self):
        found: dict[str, set[float]] = {}
        for name in PROBLEMS:
            problem, random = load_problem(name), np.random.default_rng(1)
            found[name] = {self.check(name, _made_up(problem, random)).item() for _ in range(600)}
        self.assertEqual(found["inlining_for_size"], {0, 1})
        self.assertGreater(len(found["regalloc_eviction"]), 15)
        self.assertGreater(len(found["regalloc_priority"]), 30)
        self.assertLessEqual({0.0, 2047.0 * 2**20}, found["regalloc_priority"])

    def test_a_tie_is_no_and_the_number_0_never_minus_0(self):
        for name in ("inlining_for_size", "regalloc_priority"):
            problem, network, _ = _prepared(name)
            for zero in (0.0, -0.0):
                output = np.full_like(network.weights["policy/logits/kernel"], zero)
                tied = network.with_weights({**network.weights, "policy/logits/kernel": output})
                observation = {spec.name: np.ones(spec.shape, spec.dtype) for spec in problem.observation_specs}
                runs = Backends(problem, tied).runs | {"NumPy": functools.partial(decide, tied, problem)}
                for backend, run in runs.items():
                    found = run(observation).tobytes()
                    self.assertEqual(found, bytes(problem.action_spec.byte_count), f"{name} {zero} {backend}")

    def test_a_policy_that_knows_fewer_features(self):
        left_out = {"inlining_for_size": "threshold", "regalloc_eviction": "progress", "regalloc_priority": "stage"}
        for name, without in left_out.items():
            with self.subTest(name):
                problem, _, backends = _prepared(name, without)
                names = [spec.name for spec in problem.observation_specs if spec.name != without]
                self.assertEqual(list(backends.known), names)
                random = np.random.default_rng(2)
                for _ in range(20):
                    self.check(name, _made_up(problem, random), without)

    def test_many_decisions_are_those_of_each_and_of_training(self):
        for name in PROBLEMS:
            problem, network, _ = _prepared(name)
            random = np.random.default_rng(4)
            many = _made_up(problem, random, 200)
            taken = np.zeros(200, problem.action_spec.dtype)
            if problem.mask_feature is not None:
                many["mask"] = random.integers(0, 2, many["mask"].shape)
                many["mask"][:, 0, 0] = 1
                for values in many.values():  # All candidates alike: only ties.
                    values[:40] = values[:40, ..., :1]
            found = decide_many(network, problem, many)
            shown = ({feature: values[n] for feature, values in many.items()} for n in range(200))
            np.testing.assert_array_equal(found, np.stack([decide(network, problem, each) for each in shown]))
            packed = pack(many, taken, network.normalizer, problem)
            trained = exact_network(network.weights).decisions(packed) * (problem.output_unit or 1)
            np.testing.assert_array_equal(found.reshape(-1), trained)

    def test_the_reference_refuses_other_arrays(self):
        problem, network, _ = _prepared("regalloc_priority")
        good = {spec.name: np.zeros(spec.shape, spec.dtype) for spec in problem.observation_specs}
        with self.assertRaisesRegex(ValueError, r"feature weight is float64\[1, 1\], expected float32\[1, 1\]"):
            decide(network, problem, good | {"weight": np.zeros(1)})
        with self.assertRaisesRegex(KeyError, "stage"):
            decide(network, problem, {name: value for name, value in good.items() if name != "stage"})
        with self.assertRaisesRegex(ValueError, "is for 'regalloc_priority', not for 'inlining_for_size'"):
            decide(network, load_problem("inlining_for_size"), {})


class ExploringTest(unittest.TestCase):
    def draws(self, problem, network, observation, *settings, count):
        """Decisions of models with these settings (seed, deviation): [models, count]."""
        template = TfliteTemplate(network, problem, exploring=True)
        exact = exact_network(network.weights)
        models = [TfliteModel(template.model(exact, *each)) for each in settings]
        return np.array([[model(observation)[0] for _ in range(count)] for model in models])

    def test_yes_and_no_are_drawn_with_their_probabilities(self):
        problem, network, _ = _prepared("inlining_for_size")
        exact = exact_network(network.weights)
        random = np.random.default_rng(5)
        many = {spec.name: random.integers(0, 7, (100, *spec.shape)) for spec in problem.observation_specs}
        levels = network.normalizer.levels({name: values[:, 0] for name, values in many.items()}, np.ones(100, bool))
        # An observation whose probability is neither 1/2 nor close to 0 or 1.
        chosen = int(np.argmin(abs(abs(exact.row_logits(levels)) - 1)))
        z = float(exact.row_logits(levels)[chosen])
        self.assertTrue(0.7 < abs(z) < 1.3, z)
        observation = {name: values[chosen] for name, values in many.items()}
        draws = self.draws(problem, network, observation, (1,), (1,), (2,), count=8000)
        np.testing.assert_array_equal(draws[0], draws[1])
        self.assertFalse(np.array_equal(draws[0], draws[2]))
        for each in draws[1:]:
            # 4 standard deviations.
            self.assertAlmostEqual(np.mean(each), 1 / (1 + np.exp(-z)), delta=4 * 0.5 / np.sqrt(8000))

    def test_choices_are_drawn_by_softmax(self):
        problem, network = synthetic.PROBLEM, synthetic.as_trained(initial_network(synthetic.normalizer(), 1), 3)
        one = synthetic.features(np.random.default_rng(4), 1)
        one["legal"][0] = [1, 0, 1, 1, 1]
        packed = pack(one, np.array([0]), network.normalizer, problem)
        logits = exact_network(network.weights).row_logits(packed.levels).astype(np.float64)
        expected = np.exp(logits) / np.exp(logits).sum()
        observation = {name: values[0] for name, values in one.items()}
        draws = self.draws(problem, network, observation, (1,), (1,), (2,), count=20000)
        np.testing.assert_array_equal(draws[0], draws[1])
        self.assertFalse(np.array_equal(draws[0], draws[2]))
        for each in draws:
            shares = np.bincount(each, minlength=5)[[0, 2, 3, 4]] / len(each)
            np.testing.assert_allclose(shares, expected, atol=0.015)  # 4 standard deviations.

    def test_numbers_are_drawn_around_the_greedy_one(self):
        problem, network, _ = _prepared("regalloc_priority")
        observation = {spec.name: np.ones(spec.shape, spec.dtype) for spec in problem.observation_specs}
        assert problem.output_unit is not None
        greedy = float(decide(network, problem, observation)[0]) / problem.output_unit
        self.assertTrue(1 < greedy < 2046, greedy)
        settings = ((1, 0.125), (1, 0.125), (2, 0.125), (1, 0.25))
        draws = self.draws(problem, network, observation, *settings, count=2000) / np.float64(problem.output_unit)
        np.testing.assert_array_equal(draws[0], draws[1])
        self.assertFalse(np.array_equal(draws[0], draws[2]))
        for each in (draws[0], draws[2]):
            # 4 standard deviations of the mean and of the deviation.
            self.assertAlmostEqual(each.mean(), greedy, delta=4 * 0.125 / np.sqrt(2000))
            self.assertAlmostEqual(each.std(), 0.125, delta=4 * 0.125 / np.sqrt(4000))
        np.testing.assert_allclose(draws[3] - greedy, 2 * (draws[0] - greedy), atol=1e-3)

    def test_a_normaliser_of_another_problem_is_refused(self):
        _, network, _ = _prepared("regalloc_priority")
        with self.assertRaisesRegex(RunError, "is for 'regalloc_priority', not for 'inlining_for_size'"):
            TfliteTemplate(network, load_problem("inlining_for_size"), exploring=False)
