"""`mlgo_clang`: a clang that ships, with a trained policy inside.

    load("//release:defs.bzl", "mlgo_clang")

    mlgo_clang(
        name = "clang",
        eviction_policy = "//models/regalloc_eviction:policy",
    )

`-mllvm -regalloc-enable-advisor=release` makes it ask the policy; without that flag it compiles to the same bytes as the
packaged clang. It needs no TensorFlow and no file besides its own tree.
"""

load("//development:llvm_program.bzl", "llvm_program")
load("//release/private:embedded_policy.bzl", "embedded_policy")

def mlgo_clang(name, eviction_policy, visibility = None):
    """A clang with a register eviction policy compiled in.

    Makes `<name>` and its tree `<name>.llvm` (see `llvm_program` of //development:llvm_program.bzl). A changed policy
    compiles one generated unit and links; everything else comes out of the cache.

    Args:
      name: name of the target.
      eviction_policy: label of a SavedModel: one directory, or files of which one is called saved_model.pb.
      visibility: visibility of `name`.
    """
    embedded_policy(
        name = name + "_eviction_policy",
        policy = eviction_policy,
        visibility = ["//visibility:private"],
    )
    llvm_program(
        name = name,
        program = "clang",
        resource_directory = "@llvm22//:resource_headers",
        visibility = visibility,
        deps = [
            name + "_eviction_policy",
            Label("//development:clang_driver"),
            Label("//development:no_z3"),
            Label("//release:advisor_units"),
        ],
    )
