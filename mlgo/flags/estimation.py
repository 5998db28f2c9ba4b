"""Flags of the reward that is an estimated code size (mlgo/score/code_size.py)."""

from absl import flags

from mlgo.flags.help import flag_group
from mlgo.problems.problem import Problem
from mlgo.run import locate
from mlgo.run.exit_codes import RunError
from mlgo.score.code_size import ESTIMATED_CODE
from mlgo.score.problem_score import score_of
from mlgo.training.run_inputs import Estimation

FLAGS = flags.FLAGS
flags.disclaim_key_flags()  # --help of a command lists the flags that this module defines for it.

_BINDING = f"--gin_bindings=\"RunSettings.reward='{ESTIMATED_CODE}'\""


@flag_group("Learning")
def define_estimation_flags() -> None:
    """Defines --size_estimator and --opt."""
    flags.DEFINE_string(
        "size_estimator",
        None,
        f"With {_BINDING}: estimator.json of //mlgo:train_size_estimator. Its estimates replace the sizes of generated"
        " code.",
    )
    flags.DEFINE_string(
        "opt", None, "With --size_estimator: LLVM's opt, of the same version as the clang. Default: //development:opt."
    )


def estimation_from_flags(problem: Problem, reward: str) -> Estimation | None:
    """The estimation that the flags select; None if `reward`, a field of the settings, is not an estimate.

    Raises: RunError: the flags and the reward do not go together, or the problem has no such reward.
    """
    unsupported = None
    if ESTIMATED_CODE not in score_of(problem).rewards:
        unsupported = (f"is not supported for {problem.name}, whose score LLVM logs", "Remove it")
    elif reward != ESTIMATED_CODE:
        name = f"reward {reward}" if reward else "the default reward"
        unsupported = (f"is not supported for {name}", f"Add {_BINDING}, or remove it")
    if unsupported:
        given = [f"--{flag}" for flag in ("size_estimator", "opt") if FLAGS[flag].value is not None]
        given += [_BINDING] if reward == ESTIMATED_CODE else []
        if given:
            raise RunError(given[0], *unsupported)
        return None
    if FLAGS.size_estimator is None:
        remedy = "Train one with ./bazelw run //mlgo:train_size_estimator, and give its estimator.json"
        raise RunError(f"reward {reward}", "needs an estimator, and --size_estimator is missing", remedy)
    opt = locate.user_path(FLAGS.opt) if FLAGS.opt else locate.runfile("development/opt")
    if not opt.is_file():
        raise RunError(f"--opt={opt}", "is not a file", "Give opt of the LLVM that the clang is of")
    return Estimation(locate.user_path(FLAGS.size_estimator), opt)
