"""Policies that were not trained but made up, and the TensorFlow Lite form of any policy."""

_POLICY_FILES = ["policy.json", "saved_model.pb", "weights.npz"]
_MODEL_FILES = ["model.tflite", "output_spec.json"]

# For the development clang: of each problem a policy with random weights, and one that looks at fewer features.
MADE_UP_TFLITE = [
    "//tests/policies:{}_{}_tflite".format(kind, short)
    for kind in ["random", "fewer_features"]
    for short in ["eviction", "inlining", "priority"]
]

def made_up_policy(name, what = "random", problem = "inlining_for_size", seed = 1, leave_out = None, unknown = None, **kwargs):
    """A policy directory called `name`.

    Args:
      name: name of the target and of the directory.
      what: "random" weights, or the "threshold" by which -Oz inlines.
      problem: folder below mlgo/problems.
      seed: seed of the random weights.
      leave_out: a feature that the random policy does not know.
      unknown: a feature that the random policy wants and LLVM lacks: no compiler can be built with it.
      **kwargs: common attributes, such as visibility.
    """
    flags = ["--problem=" + problem, "--seed={}".format(seed)]
    if leave_out:
        flags.append("--leave_out=" + leave_out)
    if unknown:
        flags.append("--unknown=" + unknown)
    outs = [name + "/" + file for file in _POLICY_FILES]
    native.genrule(
        name = name,
        outs = outs,
        cmd = "$(execpath {tool}) {what} {flags} --policy=$$(dirname $(execpath {file}))".format(
            file = outs[0],
            flags = " ".join(flags),
            tool = Label("//tests/policies"),
            what = what,
        ),
        tools = [Label("//tests/policies")],
        **kwargs
    )

def policy_as_tflite(name, policy, problem, **kwargs):
    """The directory `name` that LLVM's model flag of `problem` takes, deciding as `policy` does.

    Args:
      name: name of the target and of the directory.
      policy: label of a policy directory's files.
      problem: folder below mlgo/problems.
      **kwargs: common attributes, such as visibility.
    """
    outs = [name + "/" + file for file in _MODEL_FILES]
    native.genrule(
        name = name,
        srcs = [policy],
        outs = outs,
        cmd = ("for file in $(execpaths {policy}); do case $$file in *.pb) policy=$$(dirname $$file);; esac; done; " +
               "$(execpath {tool}) tflite --problem={problem} --policy=$$policy --model=$$(dirname $(execpath {file}))").format(
            file = outs[0],
            policy = policy,
            problem = problem,
            tool = Label("//tests/policies"),
        ),
        tools = [Label("//tests/policies")],
        **kwargs
    )
