"""Gymnasium environments in which an agent takes the compiler's decisions; importing this package registers them.

    import gymnasium
    import mlgo.environments

    environment = gymnasium.make("mlgo/RegallocEviction-v0", corpus="/srv/corpus")

See docs/environments.md.
"""

import gymnasium

from mlgo.problems.problem import load_problem, problem_names


def _environment_name(problem: str) -> str:
    """ "mlgo/RegallocEviction-v0" for "regalloc_eviction"."""
    return f"mlgo/{problem.title().replace('_', '')}-v0"


#: Environment -> the problem of mlgo/problems whose decisions are taken in it.
ENVIRONMENTS = {
    _environment_name(name): name for name in problem_names() if load_problem(name).interactive_score is not None
}

for _name, _problem in ENVIRONMENTS.items():
    if _name not in gymnasium.registry:
        gymnasium.register(
            _name,
            entry_point="mlgo.environments.compiler_environment:CompilerEnvironment",
            kwargs={"problem": _problem},
        )
