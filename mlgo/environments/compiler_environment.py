"""One Gymnasium environment for every problem: an episode is the compile of one module, a step one decision of it."""

import dataclasses
import os
import pathlib
from collections.abc import Iterator, Sequence
from typing import Any

import gymnasium
import numpy as np

from mlgo.compiler.attempts import certain_outcome
from mlgo.compiler.driver_command import with_cc1_override
from mlgo.compiler.interactive import InteractiveCompile
from mlgo.compiler.interactive_stream import Observation, WrongAnswerError
from mlgo.compiler.request import CompileFailure, CompileLimits, CompileRequest, CompileResult
from mlgo.corpus.corpus import Corpus, Module
from mlgo.corpus.fitting import usable
from mlgo.environments import spaces
from mlgo.environments.scores import channel_score
from mlgo.environments.stock_compiles import request_for, stock_clang
from mlgo.problems.problem import load_problem
from mlgo.run.exit_codes import ExitCode, RunError

#: The lowest reward, that of code ten times as bad as the default's. Worse code counts as this, and so does an episode
#: that ends before there is code, so that an illegal action or a failing compiler never pays more than playing on.
LOWEST_REWARD = -9.0


class CompilerEnvironment(gymnasium.Env):
    """Compiles modules of a corpus with a stock clang whose decisions the agent takes.

    The reward is 0 until the last decision of a module, then the improvement of the code over the default heuristic's
    (`ChannelScore.improvement`), at least LOWEST_REWARD. An action outside the mask, or a number outside [0, 1], never
    reaches the compiler: it ends the episode with LOWEST_REWARD, and so does a compiler that fails with the decisions.
    Where the default's compile fails, there is nothing to compare with: the episode is truncated with reward 0, and
    the module is left out from then on, with a warning.

    `info` holds `module` and `function` ("" for inlining); `action_mask` (int8 [n], 1 is legal, as Discrete.sample
    expects) for a categorical problem; `default_action` for inlining; at the end `score` and `default_score`, or
    `illegal_action`, or `failure`.

    An environment belongs to one thread, because the compiler dies with the thread that started it.
    """

    metadata: dict[str, Any] = {"render_modes": []}

    def __init__(
        self,
        problem: str,
        corpus: str | os.PathLike[str],
        clang: str | os.PathLike[str] | None = None,
        extra_flags: Sequence[str] = (),
        cpu_seconds: int = 300,
        workdir: str | os.PathLike[str] | None = None,
        render_mode: None = None,
        allowed_options: Sequence[str] = (),
    ):
        """
        Args:
          problem: folder name in mlgo/problems; gymnasium.make knows it from the environment's name.
          corpus: directory of a corpus (docs/corpora.md).
          clang: any clang 22; None: see `stock_clang`.
          extra_flags: cc1 flags after each module's own.
          cpu_seconds: what one compile may use.
          workdir: where temporary directories are made; None: on the memory disk if it has room.
          allowed_options: options that the corpus's commands may have although they may do more than change code.

        Raises: RunError: the corpus or the clang is not there, commands of the corpus have options that are refused, or
          modules are at an optimisation level that the problem is not for; a few of these are left out, with a warning.
        """
        if render_mode is not None:
            raise ValueError(f"render_mode={render_mode!r}: the environments render nothing")
        self.problem = load_problem(problem)
        self.render_mode = None
        self.observation_space = spaces.observation_space(self.problem)
        self.action_space = spaces.action_space(self.problem)
        self._clang = stock_clang(clang)
        whole = with_cc1_override(Corpus.load(corpus, allowed_options), self._clang)
        self._corpus = usable(self.problem, whole, gymnasium.logger.warn)
        self._flags = tuple(extra_flags)
        self._limits = CompileLimits(cpu_seconds=cpu_seconds)
        self._workdir = pathlib.Path(workdir) if workdir is not None else None
        self._score = channel_score(self.problem)
        self._include_default = self.problem.interactive_default_flag is not None
        self._order: list[int] = []
        self._left_out: set[str] = set()
        self._defaults: dict[str, dict[str, float]] = {}
        self._module: Module | None = None
        self._session: InteractiveCompile | None = None
        #: Of the last episode: function -> (score, score of the default heuristic); "" stands for the module.
        self.function_scores: dict[str, tuple[float, float]] = {}

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None):
        """Begins to compile the next module, or the one that `options["module"]` names.

        Modules come in random order, each once before any comes again; `seed` determines the order. A module without a
        decision is skipped, and so is, with a warning, a module that cannot be compiled.

        Raises: RunError: no module has a decision, or not the one named; or clang cannot be started.
        """
        super().reset(seed=seed)
        self.close()
        self.function_scores = {}
        if seed is not None:
            self._order = []
        wanted = (options or {}).get("module")
        for module in self._next_modules() if wanted is None else self._corpus.select([wanted]).modules:
            if (observation := self._start(module)) is not None:
                return spaces.observation(self._features(observation)), self._info(module, observation)
        subject = f"corpus {self._corpus.path}" + (f", module {wanted}" if wanted else "")
        wrong = f"has nothing to decide for {self.problem.name}, or cannot be compiled"
        raise RunError(subject, wrong, "give larger modules, and look at the warnings above", ExitCode.NOTHING_PRODUCED)

    def step(self, action: Any):
        if self._session is None or self._module is None:
            raise gymnasium.error.ResetNeeded(f"{self.problem.name}: no module is being compiled; call reset()")
        session, module = self._session, self._module
        try:
            session.answer(spaces.decision(self.problem, action))
        except WrongAnswerError as error:
            return self._last(module, LOWEST_REWARD, {"illegal_action": str(error)})
        observation = session.observe()
        if observation is not None:
            return spaces.observation(self._features(observation)), 0.0, False, False, self._info(module, observation)
        outcome = session.outcome
        if isinstance(outcome, CompileFailure):
            return self._last(module, LOWEST_REWARD, {"failure": f"{outcome.kind.value}: {outcome.detail}"})
        default = self._default_scores(module)
        if isinstance(default, CompileFailure):
            failure = f"the default's compile, {default.kind.value}: {default.detail}"
            self._leave_out(module, failure)
            return self._last(module, 0.0, {"failure": failure}, truncated=True)
        parts = self._score.of_parts(outcome)
        names = sorted({*parts, *default})
        self.function_scores = {name: (parts.get(name, 0.0), default.get(name, 0.0)) for name in names}
        score, default_score = sum(parts.values()), sum(default.values())
        reward = max(LOWEST_REWARD, self._score.improvement(score, default_score))
        return self._last(module, reward, {"score": score, "default_score": default_score})

    def close(self) -> None:
        """Ends the compiler, if one runs; may be called again."""
        if self._session is not None:
            self._session.close()
            self._session = None

    def _next_modules(self) -> Iterator[Module]:
        """Modules in random order, again and again, until all of them have been left out."""
        modules = self._corpus.modules
        while len(self._left_out) < len(modules):
            if not self._order:
                self._order = self.np_random.permutation(len(modules)).tolist()
            module = modules[self._order.pop()]
            if module.name not in self._left_out:
                yield module

    def _start(self, module: Module) -> Observation | None:
        """The first observation of the module, which is then being compiled; None: it has none, and is left out."""
        session = InteractiveCompile(self._request(module), self._include_default)
        try:
            observation = session.__enter__().observe()
        except BaseException:
            session.close()
            raise
        if observation is not None:
            self._module, self._session = module, session
            return observation
        session.close()
        self._left_out.add(module.name)
        if isinstance(session.outcome, CompileFailure):
            self._leave_out(module, f"{session.outcome.kind.value}, {session.outcome.detail}")
        return None

    def _leave_out(self, module: Module, reason: str) -> None:
        self._left_out.add(module.name)
        gymnasium.logger.warn(f"{module.name}: {reason}; it is left out")

    def _request(self, module: Module) -> CompileRequest:
        request = request_for(self._clang, module, self.problem, self._limits)
        return dataclasses.replace(request, extra_flags=self._flags + request.extra_flags, workdir=self._workdir)

    def _default_scores(self, module: Module) -> dict[str, float] | CompileFailure:
        """What the default heuristic reaches with the same flags; compiled once per module."""
        if module.name not in self._defaults:
            outcome = certain_outcome(self._request(module))
            if not isinstance(outcome, CompileResult):
                return outcome
            self._defaults[module.name] = self._score.of_parts(outcome)
        return self._defaults[module.name]

    def _features(self, observation: Observation) -> dict[str, np.ndarray]:
        return {spec.name: observation.features[spec.name] for spec in self.problem.interactive_specs()}

    def _info(self, module: Module, observation: Observation) -> dict[str, Any]:
        info: dict[str, Any] = {"module": module.name, "function": observation.context}
        if self.problem.mask_feature is not None:
            info["action_mask"] = observation.features[self.problem.mask_feature].reshape(-1).astype(np.int8)
        if self._include_default and (spec := self.problem.default_decision_spec) is not None:
            info["default_action"] = int(observation.features[spec.name][0])
        return info

    def _last(self, module: Module, reward: float, info: dict[str, Any], truncated: bool = False):
        """What the step that ends an episode returns."""
        self.close()
        observation = spaces.final_observation(self.problem)
        return observation, reward, not truncated, truncated, {"module": module.name, "function": "", **info}
