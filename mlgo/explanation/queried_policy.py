"""A policy as its explanation sees it: it can be asked about rows, one for each legal candidate of a state.

A network of ours is asked for logits, and its rows are levels. Of any other policy only the decision is known: its rows
are the values of the features, and its logits 1 for what it decides and 0 (binary: -1) for all else.
"""

import dataclasses

import numpy as np

from mlgo.explanation.recorded import RecordedDecisions
from mlgo.learning.exact_network import exact_network
from mlgo.learning.linear_network import linear_effect
from mlgo.learning.network import AnyPolicy, ConvertedPolicy, PolicyNetwork
from mlgo.learning.normalization import Normalizer
from mlgo.learning.observations import Observations, pack
from mlgo.problems.ir2vec import split_element
from mlgo.problems.problem import Problem
from mlgo.problems.tensor import TensorSpec
from mlgo.run.quiet import quiet_libraries

#: Display name of the column that marks the last candidate (Normalizer.mark_last_position).
LAST_POSITION = "(is the last position)"


class QueriedNetwork:
    """A network of ours.

    Attributes:
      features: names of the F features with separate contributions; an embedding is one, LAST_POSITION may be the last.
      of_column: int64 [D], which of `features` each column of a row belongs to.
      effect: as linear_effect; None: the policy is not linear.
      has_probabilities: whether logits tell how sure the policy is, and so probabilities.
      allowed_mismatch: the share of decisions that may differ from the compiler's, through rounding.
    """

    has_probabilities = True
    allowed_mismatch = 0.0

    def __init__(self, network: PolicyNetwork, problem: Problem):
        self.network, self.problem = network, problem
        self._exact = exact_network(network.weights)
        normalizer = network.normalizer
        last = [LAST_POSITION] if normalizer.mark_last_position else []
        self.features = (*normalizer.tensors, *last)
        columns = [split_element(column.feature)[0] for column in normalizer.columns] + last
        self.of_column = np.array([self.features.index(feature) for feature in columns], np.int64)
        self.effect = linear_effect(network)

    def packed(self, recorded: RecordedDecisions, decisions: np.ndarray) -> Observations:
        """The states of `recorded` with other decisions. Raises: ObservationError: see `pack`."""
        return pack(recorded.features, decisions, self.network.normalizer, self.problem, recorded.context)

    def logits(self, observations: Observations) -> np.ndarray:
        return self._exact.row_logits(observations.levels)

    def logits_at(self, observations: Observations, row: int, rows: np.ndarray) -> np.ndarray:
        """float32 [K]: the logits of K rows, each in the place of `row`."""
        del observations, row  # A row's logit does not depend on other rows.
        return self._exact.row_logits(rows)


class QueriedModel:
    """A policy that tells its decision only. Attributes: as QueriedNetwork."""

    has_probabilities = False
    allowed_mismatch = 0.01
    effect = None

    def __init__(self, policy: ConvertedPolicy, problem: Problem):
        with quiet_libraries():
            import tensorflow as tf  # pylint: disable=import-outside-toplevel  # Slow to import.

            resolver = tf.lite.experimental.OpResolverType.BUILTIN_WITHOUT_DEFAULT_DELEGATES
            self._interpreter = tf.lite.Interpreter(
                model_content=policy.model, experimental_op_resolver_type=resolver, num_threads=1
            )
        self._interpreter.allocate_tensors()
        inputs = self._interpreter.get_input_details()
        self._inputs = {each["name"].removeprefix("action_").removesuffix(":0"): each["index"] for each in inputs}
        self._output = self._interpreter.get_output_details()[0]["index"]
        self.problem = problem
        self._specs = [
            spec
            for spec in problem.observation_specs
            if spec.name in self._inputs and spec.name != problem.mask_feature
        ]
        self.features = tuple(spec.name for spec in self._specs)
        widths = [spec.element_count if spec.name in problem.embeddings else 1 for spec in self._specs]
        self.of_column = np.repeat(np.arange(len(self._specs)), widths)

    def packed(self, recorded: RecordedDecisions, decisions: np.ndarray) -> Observations:
        """As QueriedNetwork.packed; the rows, float64 [M, D], are the values of `features`."""
        without_columns = Normalizer(self.problem.policy_name, (), mark_last_position=False)
        found = pack(recorded.features, decisions, without_columns, self.problem, recorded.context)
        state = found.row_observation()
        columns = []
        for spec in self._specs:
            flat = np.asarray(recorded.features[spec.name]).reshape(len(recorded), -1)
            if spec.name in self.problem.embeddings or flat.shape[1] == 1:
                columns.append(flat[state])
            else:
                columns.append(flat[state, found.positions][:, None])
        return dataclasses.replace(found, levels=np.concatenate(columns, axis=1).astype(np.float64))

    def logits(self, observations: Observations) -> np.ndarray:
        """float32 [M]: 1 for decisions, 0 for other candidates, -1 for no; of continuous ones the decision."""
        ends = zip(observations.offsets[:-1], observations.offsets[1:], strict=True)
        return np.concatenate([self._of_state(observations, observations.levels[a:b], a, b) for a, b in ends])

    def logits_at(self, observations: Observations, row: int, rows: np.ndarray) -> np.ndarray:
        """As QueriedNetwork.logits_at; the other rows of the state stay."""
        state = int(np.searchsorted(observations.offsets, row, side="right")) - 1
        begin, end = map(int, observations.offsets[state : state + 2])
        levels = observations.levels[begin:end].copy()
        different, which = np.unique(rows, axis=0, return_inverse=True)
        found = np.empty(len(different), np.float32)
        for index, changed in enumerate(different):
            levels[row - begin] = changed
            found[index] = self._of_state(observations, levels, begin, end)[row - begin]
        return found[which.reshape(-1)]

    def _of_state(self, observations: Observations, levels: np.ndarray, begin: int, end: int) -> np.ndarray:
        positions = observations.positions[begin:end]
        decision = self._decision(levels, positions, observations.position_count)
        if observations.kind == "categorical":
            return (positions == decision).astype(np.float32)
        if observations.kind == "binary":
            return np.array([1.0 if decision else -1.0], np.float32)
        return np.array([decision / (self.problem.output_unit or 1)], np.float32)

    def _decision(self, levels: np.ndarray, positions: np.ndarray, count: int) -> float:
        """What the model decides in one state; values at illegal positions are 0, as LLVM's advisors leave them."""
        for index, spec in enumerate(self._specs):
            values = levels[:, self.of_column == index]
            flat = np.zeros(spec.element_count, np.float64)
            if spec.element_count == count > 1:
                flat[positions] = values[:, 0]
            else:
                flat[:] = values[0]
            self._set(spec, flat)
        mask = self.problem.mask_feature
        if mask is not None and mask in self._inputs:
            legal = np.zeros(count)
            legal[positions] = 1
            self._set(self.problem.observation_spec(mask), legal)
        self._interpreter.invoke()
        return self._interpreter.get_tensor(self._output).reshape(-1)[0]

    def _set(self, spec: TensorSpec, flat: np.ndarray) -> None:
        self._interpreter.set_tensor(self._inputs[spec.name], flat.astype(spec.dtype).reshape(spec.shape))


QueriedPolicy = QueriedNetwork | QueriedModel


def queried_policy(policy: AnyPolicy, problem: Problem) -> QueriedPolicy:
    return QueriedModel(policy, problem) if isinstance(policy, ConvertedPolicy) else QueriedNetwork(policy, problem)
