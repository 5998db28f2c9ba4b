"""The reward that is an estimate (mlgo/score/code_size.py, `estimated_code`): its flags, and what it adds to a run's identity."""

import dataclasses
import pathlib

from absl import flags

from mlgo.problems.problem import Problem
from mlgo.run import locate
from mlgo.run.exit_codes import RunError
from mlgo.run.manifest import digest_of_file
from mlgo.score.code_size import ESTIMATED_CODE
from mlgo.score.problem_score import score_of
from mlgo.size_estimator.estimated_code import EstimatedCode
from mlgo.size_estimator.estimator import SizeEstimator

FLAGS = flags.FLAGS
flags.disclaim_key_flags()  # --help of a command lists the flags that this module defines for it.

#: Names of what `Estimation.digests` gives.
ESTIMATION_INPUTS = ("size_estimator", "opt")

_BINDING = f"--gin_bindings=\"RunSettings.reward='{ESTIMATED_CODE}'\""


@dataclasses.dataclass(frozen=True)
class Estimation:
    """What sizes are estimated with.

    Attributes:
      size_estimator: what //mlgo:train_size_estimator has left, estimator.json.
      opt: LLVM's opt, of the version of the clang.
    """

    size_estimator: pathlib.Path
    opt: pathlib.Path

    def digests(self) -> dict[str, str]:
        """What of it decides a score, by ESTIMATION_INPUTS."""
        return dict(
            zip(ESTIMATION_INPUTS, (digest_of_file(self.size_estimator), digest_of_file(self.opt)), strict=True)
        )

    def load(self) -> EstimatedCode:
        """Raises: RunError: the estimator is absent or damaged."""
        return EstimatedCode(SizeEstimator.load(self.size_estimator), self.opt)


def define_estimation_flags() -> None:
    """Defines the flags of commands that learn."""
    flags.DEFINE_string(
        "size_estimator",
        None,
        f"With {_BINDING}: estimator.json of //mlgo:train_size_estimator, which then takes the place of generated code.",
    )
    flags.DEFINE_string(
        "opt", None, "With --size_estimator: LLVM's opt, of the version of the clang. Default: //development:opt."
    )


def estimation_given(problem: Problem, reward: str) -> Estimation | None:
    """What the flags say of estimates; None where `reward`, a field of the settings, is none.

    Raises: RunError: the flags do not fit the reward, or the reward is none of the problem's.
    """
    possible = ESTIMATED_CODE in score_of(problem).rewards
    if reward != ESTIMATED_CODE:
        for flag in ("size_estimator", "opt"):
            if FLAGS[flag].value is not None and not possible:
                raise RunError(f"--{flag}", f"means nothing to {problem.name}: LLVM logs its score", "Leave it out")
            if FLAGS[flag].value is not None:
                raise RunError(
                    f"--{flag}",
                    f"means nothing to {f'reward {reward}' if reward else 'the usual reward'}",
                    f"Add {_BINDING}, or leave it out",
                )
        return None
    if not possible:
        raise RunError(_BINDING, f"means nothing to {problem.name}: LLVM logs its score", "Leave it out")
    if FLAGS.size_estimator is None:
        raise RunError(
            f"reward {reward}",
            "needs an estimator, and --size_estimator is not given",
            "Train one, ./bazelw run //mlgo:train_size_estimator, and give its estimator.json",
        )
    opt = locate.user_path(FLAGS.opt) if FLAGS.opt else locate.runfile("development/opt")
    if not opt.is_file():
        raise RunError(f"--opt={opt}", "is not a file", "Give opt of the LLVM that the clang is of")
    return Estimation(locate.user_path(FLAGS.size_estimator), opt)
