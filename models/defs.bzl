"""`shipped_policy`: a policy of //models, and how it was made, as a command; `published`: numbers about it, and how they were made."""

load("@rules_python//python:defs.bzl", "py_binary", "py_test")

def shipped_policy(name, command, train_corpus, held_out_corpus, args = []):
    """The policy in the folder `name`, and the command `train` that makes it again: a training command with other corpora and settings.

    Args:
      name: the folder, as mlgo/policy saves it: saved_model.pb, weights.npz, policy.json (its record).
      command: "train_regalloc" or "train_inlining".
      train_corpus: label of the corpus that is learned from.
      held_out_corpus: label of the corpus that the result is measured on.
      args: flags; those given to `train` win over them.
    """
    native.filegroup(
        name = name,
        srcs = native.glob(
            [name + "/*"],
            # A fork without a policy of its own still loads; //release:clang then says what is missing.
            allow_empty = True,
        ),
        visibility = ["//visibility:public"],
    )
    # The policy with the figures of its run and of its evaluations: what its report.html shows.
    native.filegroup(
        name = "record",
        srcs = native.glob(
            ["**"],
            exclude = ["BUILD.bazel"],
        ),
        visibility = ["//mlgo/reporting:__pkg__"],
    )
    py_binary(
        name = "train",
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

def published(name, command, files, args, data, env = {}):
    """Numbers that stand in the folder `name`, and the commands that make them again: `NAME_test` compares, `NAME.update` writes.

    Args:
      name: the folder.
      command: label of the command, which takes --output_dir.
      files: names of the files in the folder which that command writes; FILE#KEY: only what is under KEY of a JSON file is compared,
        times left out; FILE~KEY: numbers may differ by 0.05 %.
      args: its flags, where {PATH} is the runfile PATH.
      data: what these flags name.
      env: environment of the command.
    """
    package = native.package_name()
    runfile = command.removeprefix("//").replace(":", "/")
    everything = dict(
        srcs = ["//models:published.py"],
        main = "//models:published.py",
        data = data + [command] + native.glob([name + "/*"]),
        env = env,
        # Minutes, and other people's programs.
        tags = ["manual"],
        deps = [
            "//mlgo/run:files",
            "//mlgo/run:locate",
        ],
    )
    arguments = [runfile, "{}/{}".format(package, name), ",".join(files)]
    py_test(
        name = name + "_test",
        size = "enormous",
        args = arguments + args,
        **everything
    )
    py_binary(
        name = name + ".update",
        args = arguments + ["--update"] + args,
        **everything
    )
