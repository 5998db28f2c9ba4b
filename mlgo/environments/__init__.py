"""Gymnasium environments in which an agent takes the compiler's decisions; importing this package registers them.

    import gymnasium
    import mlgo.environments

    environment = gymnasium.make("mlgo/RegallocEviction-v0", corpus="/srv/corpus")

See docs/environments.md.
"""

import gymnasium

#: Environment -> the problem of mlgo/problems whose decisions are taken in it.
ENVIRONMENTS = {
    "mlgo/RegallocEviction-v0": "regalloc_eviction",
    "mlgo/InliningForSize-v0": "inlining_for_size",
    "mlgo/RegallocPriority-v0": "regalloc_priority",
}

for _name, _problem in ENVIRONMENTS.items():
    if _name not in gymnasium.registry:
        gymnasium.register(
            _name,
            entry_point="mlgo.environments.compiler_environment:CompilerEnvironment",
            kwargs={"problem": _problem},
        )
