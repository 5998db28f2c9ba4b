"""`trained_policy`: how a policy in //models was made, as a command."""

load("@rules_python//python:defs.bzl", "py_binary")

def trained_policy(name, command, train_corpus, held_out_corpus, args):
    """A command that trains the policy again: a training command with other corpora and settings. Flags given to it win.

    Args:
      name: of the command.
      command: "train_regalloc" or "train_inlining".
      train_corpus: label of the corpus that is learned from.
      held_out_corpus: label of the corpus that the result is measured on.
      args: flags.
    """
    py_binary(
        name = name,
        srcs = ["//mlgo:{}.py".format(command)],
        main = "//mlgo:{}.py".format(command),
        args = args,
        data = [
            train_corpus,
            held_out_corpus,
            "//development:clang",
            "//development:compile_server",
        ],
        env = {
            "MLGO_TRAIN_CORPUS": "$(rlocationpath {})".format(train_corpus),
            "MLGO_HELD_OUT_CORPUS": "$(rlocationpath {})".format(held_out_corpus),
        },
        # Its corpora are other people's programs: `//...` does not fetch and compile them.
        tags = ["manual"],
        deps = ["//mlgo:training_commands"],
    )
