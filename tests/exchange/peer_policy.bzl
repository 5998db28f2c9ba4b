"""Policies that tf-agents saved."""

_FILES = ["saved_model.pb", "variables/variables.index", "variables/variables.data-00000-of-00001"]

def peer_policy(name, problem, seed):
    """A SavedModel with random weights, written by tf-agents' PolicySaver.

    Args:
      name: name of the target and of the directory.
      problem: folder below mlgo/problems.
      seed: seed of the weights.
    """
    outs = [name + "/" + file for file in _FILES]
    native.genrule(
        name = name,
        testonly = True,
        outs = outs,
        cmd = "$(execpath //tests/exchange:save_peer_policy) {} {} $$(dirname $(execpath {}))".format(problem, seed, outs[0]),
        tools = ["//tests/exchange:save_peer_policy"],
        visibility = ["//visibility:private"],
    )
