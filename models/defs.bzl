"""`shipped_policy`: a policy of //models and the command that trains it. `published`, `published_programs`: results and the command that computes them."""

load("@rules_python//python:defs.bzl", "py_binary", "py_test")
load("//mlgo:programs.bzl", "ALL_PROGRAMS_DATA", "ALL_PROGRAMS_ENV")

# Libraries that no training, threshold or feature was chosen with.
HELD_OUT_LIBRARIES = [
    "cmark",
    "expat",
    "tidy_html5",
    "xz",
    "graphite2",
    "muparser",
    "ninja",
]

# Programs with runs for a profile: all but mbedtls (docs/evaluate-a-policy.md).
PROGRAMS_WITH_TRAINING = [
    "box2d",
    "brotli",
    "bzip2",
    "cmark",
    "cwebp",
    "graphite2",
    "harfbuzz",
    "lua",
    "lz4",
    "minigzip",
    "mujs",
    "ninja",
    "opus_demo",
    "pcre2test",
    "re2",
    "sqlite",
    "tidy",
    "xmlwf",
    "xz",
    "yaml_cpp",
    "zstd",
]

# The value of mlgo-speed.cfg (//release/configuration); chosen on //mlgo/corpus:diverse_small among 4096, 8192, 16384 and 32768.
CALLEE_SAVED_COST = "32768"

# The options of mlgo-speed.cfg, after a compiler of --compiler; allocations without the policy, and not with it, were chosen on PROGRAMS_WITH_TRAINING.
SPEED_OPTIONS = ",-mllvm,-regalloc-enable-advisor=release,-mllvm,-mlgo-callee-saved-cost=" + CALLEE_SAVED_COST + ",-mllvm,-mlgo-allocations-with-profile=18"

# The options of mlgo-cold.cfg, after a compiler of --compiler; the cutoff was chosen on cmark, lua and zstd.
COLD_OPTIONS = ",-mllvm,-pgo-cold-func-opt=minsize,-mllvm,-profile-summary-cutoff-cold=999000"

_FEW_PROGRAMS = [
    "cmark",
    "lua",
    "re2",
    "sqlite",
    "tidy",
    "xmlwf",
]

# Programs that are measured on other targets: those that one core builds and QEMU runs in some minutes.
TARGET_PROGRAMS = {
    "aarch64": [
        "box2d",
        "brotli",
        "bzip2",
        "cmark",
        "graphite2",
        "lua",
        "lz4",
        "minigzip",
        "mujs",
        "re2",
        "sqlite",
        "tidy",
        "xmlwf",
        "zstd",
    ],
    "armv7_thumb": _FEW_PROGRAMS,
    "riscv64": _FEW_PROGRAMS,
}

def shipped_policy(name, command, train_corpus, held_out_corpus, args = []):
    """The policy in the folder `name`, and the target `train`, which repeats its training.

    Args:
      name: the folder, as written by mlgo/policy: saved_model.pb, weights.npz, policy.json (its record).
      command: training command, "train_regalloc" or "train_inlining".
      train_corpus: label of the training corpus.
      held_out_corpus: label of the corpus for the final measurement.
      args: flags of the command; flags given to `train` override them.
    """
    native.filegroup(
        name = name,
        srcs = native.glob(
            [name + "/*"],
            # Without a policy the package still loads; building //release:clang then reports the missing file.
            allow_empty = True,
        ),
        visibility = ["//visibility:public"],
    )

    # The policy with the results of its training and its evaluations: what //mlgo:report makes report.html of.
    native.filegroup(
        name = "record",
        srcs = native.glob(
            ["**"],
            exclude = ["BUILD.bazel"],
        ),
        visibility = ["//models:__subpackages__"],
    )
    py_binary(
        name = "train",
        srcs = ["//mlgo:{}.py".format(command)],
        main = "//mlgo:{}.py".format(command),
        args = args,
        data = [
            "//development:clang",
            "//development:compile_server",
        ],
        env = {
            "MLGO_TRAIN_CORPUS": train_corpus,
            "MLGO_HELD_OUT_CORPUS": held_out_corpus,
        },
        # `//...` must not fetch and compile the programs of its corpora.
        tags = ["manual"],
        deps = ["//mlgo:training_commands"],
    )

def published(name, command, files, args, data, env = {}):
    """Published results in the folder `name`: `NAME_test` repeats and compares them, `NAME.update` repeats and writes them.

    Args:
      name: the folder.
      command: label of the command that computes them; it has the flag --output_dir.
      files: names of the files that the command writes into the folder. FILE#KEY: compare only KEY of a JSON file, without times.
        FILE~KEY: the same; numbers may differ by 0.05 %.
      args: flags of the command; {PATH} stands for the runfile PATH.
      data: the runfiles of these flags.
      env: environment of the command.
    """
    package = native.package_name()
    runfile = command.removeprefix("//").replace(":", "/")
    everything = dict(
        srcs = ["//models:published.py"],
        main = "//models:published.py",
        data = data + [command] + native.glob([name + "/*"]),
        env = env,
        # They take minutes and fetch programs.
        tags = ["manual"],
        deps = [
            "//mlgo/run",
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

def published_evaluation(name, corpora, args, data = [], env = {}, files = ["modules.csv", "result.json"]):
    """Published results of the package's policy on corpora.

    Args: as of `published`.
      name: the folder.
      corpora: dict from name to the corpus, a name in //mlgo/corpus.
      args: further flags of //mlgo:evaluate.
      data: what these flags need.
      env: environment of the command.
      files: names of the files that the command writes into the folder.
    """
    published(
        name = name,
        args = ["--policy=trained={%s/policy}" % native.package_name()] + args + [
            "--corpus={}={{mlgo/corpus/{}}}".format(each, corpus)
            for each, corpus in corpora.items()
        ],
        command = "//mlgo:evaluate",
        data = [":policy"] + data + ["//mlgo/corpus:" + corpus for corpus in corpora.values()],
        env = env,
        files = files,
    )

def published_programs(name, args, files, data = ALL_PROGRAMS_DATA, env = ALL_PROGRAMS_ENV):
    """Published results of whole programs, built with the release clang, for the problem that the package is named after.

    Args: as of `published`.
      name: the folder.
      args: further flags of //mlgo:evaluate_programs.
      files: names of the files that the command writes into the folder.
      data: the programs, and what else the flags need.
      env: environment of the command.
    """
    published(
        name = name,
        args = [
            "--clang={release/clang}",
            "--problem=" + native.package_name().removeprefix("models/"),
        ] + args,
        command = "//mlgo:evaluate_programs",
        data = data + ["//release:clang"],
        env = env,
        files = files,
    )
