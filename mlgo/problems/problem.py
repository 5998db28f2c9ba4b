"""One compiler optimisation as data: what the policy observes, what it decides, and how the result is scored.

Everything else (compiling, tracing, learning, shipping) is written against `Problem` and depends on no particular
optimisation. A problem is a folder below mlgo/problems/ whose `problem.py` exports `PROBLEM`.
"""

import dataclasses
import importlib
import math
import pathlib
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Literal

from mlgo.problems import executed_cost, ir2vec
from mlgo.problems.objective import FOLDED_CODE, CodeSize, LoggedScore
from mlgo.problems.tensor import TensorSpec

_FOLDER = re.compile(r"[a-z][a-z0-9_]*")

#: The word after the "+" of the name of a problem: for compilers without our patches; whose code is linked with equal
#: functions folded.
STOCK, FOLDED = "stock", "folded"


@dataclasses.dataclass(frozen=True)
class Levels:
    """The optimisation levels at which a problem's decisions are made and mean something."""

    #: levels of modules, as mlgo/corpus/level.py names them.
    accepted: tuple[str, ...] = ("O1", "O2", "O3", "Os", "Oz")
    advised: str = "O2"  #: the one to build a new corpus at.
    #: completes "regalloc_eviction needs -O1, ... or -Oz, ".
    reason: str = "because code at -O0 is not optimised and has no such decision"

    def __post_init__(self):
        if self.advised not in self.accepted:
            raise ValueError(f"advised level {self.advised!r} is none of the accepted ones, {self.accepted}")

    def described(self) -> str:
        """The accepted levels for a message: "-Os or -Oz"."""
        *first, last = (f"-{level}" for level in self.accepted)
        return f"{', '.join(first)} or {last}" if first else last


@dataclasses.dataclass(frozen=True)
class Problem:
    """One optimisation whose decisions a policy can take."""

    folder: str  #: its folder below mlgo/problems/, e.g. "regalloc_eviction".
    observation_specs: tuple[TensorSpec, ...]  #: the features, in the order in which the compiler logs them.
    action_spec: TensorSpec  #: the decision; `action_spec.name` is also the name of the model's output.
    action_count: int | None  #: number of possible decisions (0 .. action_count - 1); None for a continuous decision.
    #: observation with the shape [1, action_count] that is 1 where a decision is legal, or None.
    mask_feature: str | None
    score: LoggedScore | CodeSize  #: how the result of a compile is scored.
    #: advisor_flag, log_flag, model_flag: LLVM options, without leading dash: the mode of the advisor, the path of the
    #: training log, the directory of the TFLite model under training.
    advisor_flag: str
    log_flag: str
    model_flag: str
    #: names of those observations that only our compilers have: a stock clang's interactive channel does not send them.
    features_of_ours: frozenset[str] = frozenset()
    #: names of the vectors that LLVM also observes when it is given an IR2Vec vocabulary: "NAME+ir2vec".
    embeddings: tuple[str, ...] = ()
    vocabulary: ir2vec.Vocabulary | None = None  #: setting; of these embeddings; None: they are not observed.
    cost: executed_cost.ExecutedCost | None = None  #: setting; what the compiler logs as the score; None: LLVM's own.
    is_stock: bool = False  #: setting; whether the problem is that of a compiler without our patches.
    has_executed_cost: bool = False  #: whether the compiler can log such a cost.
    levels: Levels = Levels()  #: the optimisation levels of modules that the problem is for.
    #: "categorical": one of `action_count` positions, of which `mask_feature` allows some; "binary": 0 or 1;
    #: "continuous": any float32 within `action_bounds`.
    decision_kind: Literal["categorical", "binary", "continuous"] = "categorical"
    #: (smallest, largest) legal decision, inclusive. Follows from action_count unless it is continuous.
    action_bounds: tuple[float, float] | None = None
    #: max_output, output_unit: a continuous decision is min(max(z, 0), max_output) * output_unit, where z is the output
    #: of the network. The unit is a power of two and max_output has few bits, so float32 never rounds the product.
    max_output: float | None = None
    output_unit: float | None = None
    #: the decision of the compiler's heuristic, if LLVM logs it beside the policy's. No policy sees it.
    default_decision_spec: TensorSpec | None = None
    #: whether all decisions are made in code generation: every compile can start from modules that are optimised once.
    decides_after_optimiser: bool = False
    #: the Bazel setting that puts a policy of this problem into //release:clang. None: no such slot.
    release_setting: str | None = None
    context_flags: tuple[str, ...] = ()  #: further cc1 flags that make the log name each context after its call site.
    #: LLVM option, without dash, of a file of decisions by call site. None: there is none.
    decisions_flag: str | None = None
    #: LLVM option, without dash, of the heuristic's threshold, of which evaluations can try other values. None: none.
    threshold_option: str | None = None
    #: LLVM option, without dash: base name of the interactive channel's two files. None: no channel.
    interactive_flag: str | None = None
    #: option that sends `default_decision_spec` after the observations in the channel.
    interactive_default_flag: str | None = None
    #: how the interactive environments score a compile: a name of mlgo/environments/scores.py. None: no environment.
    interactive_score: str | None = None
    #: display names of decisions, by number; in `other_choice_name`, "{}" is the number of any other.
    choice_names: Mapping[int, str] = dataclasses.field(default_factory=dict, hash=False)
    other_choice_name: str = "{}"
    #: what LLVM puts before the name of an observation to get the name of the model's input.
    model_input_prefix: str = "action_"
    #: inputs which the training model must have and which LLVM leaves at zero.
    model_only_inputs: tuple[TensorSpec, ...] = (
        TensorSpec("action_discount", "float32", (1,)),
        TensorSpec("action_step_type", "int32", (1,)),
        TensorSpec("action_reward", "float32", (1,)),
    )

    def __post_init__(self):
        if not _FOLDER.fullmatch(self.folder):
            raise ValueError(f"problem name {self.folder!r} must be a folder name like regalloc_eviction")
        if (fault := next(self._faults(), None)) is not None:
            raise ValueError(f"problem {self.name}: {fault}")
        if self.action_count is not None:  # None: of a continuous decision, whose bounds are given.
            object.__setattr__(self, "action_bounds", (0, self.action_count - 1))

    def _faults(self) -> Iterator[str]:
        """What is wrong with the fields; only the first is meaningful."""
        names = [spec.name for spec in self.logged_specs()]
        if len(set(names)) != len(names):
            yield f"two tensors have the same name among {names}"
        if self.action_spec.element_count != 1:
            yield f"the decision {self.action_spec.name} must be one value"
        if self.interactive_default_flag is not None and None in (self.interactive_flag, self.default_decision_spec):
            yield "interactive_default_flag needs interactive_flag and default_decision_spec"
        faults_of_kind = {
            "categorical": self._faults_of_categorical,
            "binary": self._faults_of_binary,
            "continuous": self._faults_of_continuous,
        }
        kind, mask = self.decision_kind, self.mask_feature
        if kind not in faults_of_kind:
            yield f"decision_kind {kind!r} is none of {', '.join(faults_of_kind)}"
        if kind != "categorical":
            if mask is not None:
                yield f"{kind} has no mask_feature; give None instead of {mask!r}"
            several = [spec.name for spec in self.observation_specs if spec.element_count != 1]
            if large := [name for name in several if name not in self.embeddings]:
                yield f"{kind} is decided from single values; {large} have several"
        yield from faults_of_kind[kind]()

    def _faults_of_categorical(self) -> Iterator[str]:
        if self.mask_feature is None or self.action_count is None or self.action_spec.dtype != "int64":
            yield "categorical needs mask_feature, action_count and an int64 decision"
        else:
            mask, count = self.observation_spec(self.mask_feature), self.action_count
            if mask.element_count != count:
                elements = f"mask {mask.name} has {mask.element_count} elements"
                yield f"{elements} for {count} decisions; they must be as many"

    def _faults_of_binary(self) -> Iterator[str]:
        if self.action_count != 2 or self.action_spec.dtype != "int64":
            yield "binary needs action_count=2 and an int64 decision"

    def _faults_of_continuous(self) -> Iterator[str]:
        if self.action_count is not None or self.action_spec.dtype != "float32":
            yield "continuous needs action_count=None and a float32 decision"
        low, high = self.action_bounds or (0.0, 0.0)
        if not -math.inf < low < high < math.inf:
            yield "continuous needs finite action_bounds=(smallest, largest)"
        top, unit = self.max_output or 0.0, self.output_unit or 0.0
        if not (top > 0 and unit > 0 and math.frexp(unit)[0] == 0.5):
            yield "continuous needs max_output > 0 and output_unit, a power of two"
        if not low <= 0 < top * unit <= high:
            yield f"0 and max_output * output_unit must be in {self.action_bounds}"

    def _refused(self, reason: str, setting: str) -> ValueError:
        return ValueError(f"problem {self.name}: {reason}; leave out +{setting}")

    @property
    def name(self) -> str:
        """The name that traces, caches and messages record; `load_problem` of it gives the problem with its setting."""
        if isinstance(self.score, CodeSize) and self.score.folds:
            return f"{self.folder}+{FOLDED}"
        return self.policy_name if self.cost is None else f"{self.folder}+{executed_cost.SETTING}.{self.cost}"

    @property
    def policy_name(self) -> str:
        """The name that policies and their normalisers record: without what changes the score alone."""
        if self.is_stock:
            return f"{self.folder}+{STOCK}"
        return self.folder if self.vocabulary is None else f"{self.folder}+{ir2vec.SETTING}.{self.vocabulary}"

    def with_vocabulary(self, vocabulary: ir2vec.Vocabulary) -> "Problem":
        """The problem with embeddings among its observations. Raises: ValueError: LLVM has none for this problem."""
        if not self.embeddings:
            raise self._refused("LLVM computes no IR2Vec embeddings for it", ir2vec.SETTING)
        ours = [spec for spec in self.observation_specs if spec.name in self.features_of_ours]
        embeddings = [TensorSpec(name, "float32", (vocabulary.dimension,)) for name in self.embeddings]
        others = [spec for spec in self.observation_specs if spec not in ours and spec.name not in self.embeddings]
        return dataclasses.replace(self, observation_specs=(*others, *embeddings, *ours), vocabulary=vocabulary)

    def with_cost(self, cost: executed_cost.ExecutedCost) -> "Problem":
        """The problem with `cost` as the logged score. Raises: ValueError: the compiler logs none for this problem."""
        if not self.has_executed_cost:
            raise self._refused("its score is not of register allocation", executed_cost.SETTING)
        return dataclasses.replace(self, cost=cost)

    def with_folded_code(self) -> "Problem":
        """The problem scored by images whose equal functions are folded. Raises: ValueError: its score is no size."""
        if not isinstance(self.score, CodeSize):
            raise self._refused("its score is not the size of code", FOLDED)
        return dataclasses.replace(self, score=dataclasses.replace(self.score, rewards=(FOLDED_CODE,)))

    def for_stock_compilers(self) -> "Problem":
        """The problem with LLVM's own features only, and without call sites in the log and files of decisions.

        LLVM leaves the input of a feature that it does not know at zero, without a message.

        Raises: ValueError: the problem has LLVM's features only, so it is that of stock compilers already.
        """
        if not self.features_of_ours:
            raise self._refused("has LLVM's own features only", STOCK)
        return dataclasses.replace(
            self,
            is_stock=True,
            observation_specs=self.interactive_specs(),
            features_of_ours=frozenset(),
            embeddings=(),
            context_flags=(),
            decisions_flag=None,
        )

    def elements(self, spec: TensorSpec) -> tuple[str, ...]:
        """The names under which the values of an observation are normalised: its own; of an embedding NAME[0], ..."""
        return ir2vec.element_names(spec.name, spec.element_count) if spec.name in self.embeddings else (spec.name,)

    def logged_specs(self, extra_outputs: Sequence[TensorSpec] = ()) -> tuple[TensorSpec, ...]:
        """The tensors of one observation in a training log. Args: extra_outputs: outputs that the model also logs."""
        default = () if self.default_decision_spec is None else (self.default_decision_spec,)
        return (*self.observation_specs, *extra_outputs, *default, self.action_spec)

    @property
    def logged_score_spec(self) -> TensorSpec | None:
        return self.score.spec if isinstance(self.score, LoggedScore) else None

    @property
    def observation_bytes(self) -> int:
        """Bytes of the tensors of one observation in a log without extra outputs."""
        return sum(spec.byte_count for spec in self.logged_specs())

    def choice_name(self, decision: float) -> str:
        return self.choice_names.get(int(decision), self.other_choice_name.format(f"{decision:g}"))

    def observation_spec(self, name: str) -> TensorSpec:
        specs = {spec.name: spec for spec in self.observation_specs}
        if name not in specs:
            raise KeyError(f"problem {self.name} has no observation {name!r}; it has {[*specs]}")
        return specs[name]

    def development_flags(self, log_path: str | None, model_dir: str | None) -> list[str]:
        """cc1 flags for a development clang: log decisions to `log_path`, take them from `model_dir` or the default.
        Raises: ValueError: neither a log nor a model is given; LLVM refuses that.
        """
        if log_path is None and model_dir is None:
            raise ValueError(f"{self.name}: development mode needs a training log, a model, or both; both are None")
        flags = ["-mllvm", f"-{self.advisor_flag}=development"]
        if self.vocabulary is not None:
            flags += ir2vec.development_flags(self.vocabulary)
        if log_path is not None:
            flags += ["-mllvm", f"-{self.log_flag}={log_path}", *self.context_flags]
            if self.cost is not None:
                flags += self.cost.flags()
        if model_dir is not None:
            flags += ["-mllvm", f"-{self.model_flag}={model_dir}"]
        return flags

    def release_flags(self) -> list[str]:
        """cc1 flags for a release clang which carries this problem's policy."""
        return ["-mllvm", f"-{self.advisor_flag}=release"]

    def interactive_specs(self, include_default: bool = False) -> tuple[TensorSpec, ...]:
        """The tensors of one observation in the interactive channel; the answer is one `action_spec`."""
        specs = tuple(spec for spec in self.observation_specs if spec.name not in self.features_of_ours)
        return (*specs, self.default_decision_spec) if include_default and self.default_decision_spec else specs

    def interactive_flags(self, channel_base: str, include_default: bool = False) -> list[str]:
        """cc1 flags for any clang: write observations to `channel_base`.out, read decisions from `channel_base`.in.

        Args: include_default: also send what the compiler's own heuristic would decide.
        Raises: ValueError: the problem has no such channel or default; RunError: the vocabulary of this workspace is
          not that of the problem's embeddings.
        """
        if self.interactive_flag is None:
            raise ValueError(f"{self.name}: LLVM has no interactive channel for it")
        flags = list(self.release_flags())
        if self.vocabulary is not None:
            flags += ir2vec.flags_of_any_compiler(self.vocabulary)
        flags += ["-mllvm", f"-{self.interactive_flag}={channel_base}"]
        if include_default:
            if self.interactive_default_flag is None:
                raise ValueError(f"{self.name}: LLVM does not send the default's decision; give include_default=False")
            flags += ["-mllvm", f"-{self.interactive_default_flag}"]
        return flags


def problem_names() -> list[str]:
    """The folders of mlgo/problems that hold a problem and that the running target depends on, sorted."""
    return sorted(path.parent.name for path in pathlib.Path(__file__).parent.glob("*/problem.py"))


def load_problem(name: str) -> Problem:
    """The problem in the folder mlgo/problems/<folder>, where `name` is one of

        folder                                  the problem as it is
        folder+ir2vec                           with embeddings of the vocabulary in the compilers' tree
        folder+ir2vec.DIMENSION.DIGEST          with embeddings of this vocabulary: the name of the above
        folder+stock                            with LLVM's own features only, for a compiler without our patches
        folder+folded                           scored by images whose equal functions the linker folds
        folder+executed_cost                    with what functions execute as their score (executed_cost.py)
        folder+executed_cost.WEIGHTS            the same with other weights: the name of the above

    Raises:
      ValueError: there is no such folder, it exports no PROBLEM, or it has no such setting.
      RunError: the vocabulary is missing or malformed.
    """
    folder, plus, setting = name.partition("+")
    known = f"; the problems are {', '.join(problem_names())}"
    if not _FOLDER.fullmatch(folder):
        raise ValueError(f"problem name {name!r} is not a folder name{known}")
    try:
        problem = importlib.import_module(f"mlgo.problems.{folder}.problem").PROBLEM
    except (ModuleNotFoundError, AttributeError) as error:
        where = f"mlgo/problems/{folder}/problem.py ({error})"
        raise ValueError(f"problem {name!r}: cannot load PROBLEM from {where}{known}") from error
    if not plus:
        return problem
    if setting == STOCK:
        return problem.for_stock_compilers()
    if setting == FOLDED:
        return problem.with_folded_code()
    word, dot, identity = setting.partition(".")
    if word == executed_cost.SETTING:
        return problem.with_cost(executed_cost.ExecutedCost.parse(identity) if dot else executed_cost.ExecutedCost())
    if word == ir2vec.SETTING:
        parse, read = ir2vec.Vocabulary.parse, ir2vec.vocabulary_in
        return problem.with_vocabulary(parse(identity) if dot else read(ir2vec.built_in_file()))
    settings = ", ".join(f"+{word}" for word in (ir2vec.SETTING, STOCK, FOLDED, executed_cost.SETTING))
    raise ValueError(f"problem name {name!r}: the settings are {settings}")
