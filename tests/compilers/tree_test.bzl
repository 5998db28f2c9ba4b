"""Analysis test of an `llvm_program`: its tree contains the program, its aliases and its files, and nothing is linked in it."""

load("@bazel_skylib//lib:unittest.bzl", "analysistest", "asserts")

def _tree_test_impl(ctx):
    env = analysistest.begin(ctx)
    target = analysistest.target_under_test(env)
    folder = "{}/{}.llvm/".format(target.label.package, target.label.name)
    inside = [file.short_path for file in target[DefaultInfo].default_runfiles.files.to_list() if not file.is_directory]
    programs = sorted([path.removeprefix(folder).removeprefix("bin/") for path in inside if path.startswith(folder)])
    asserts.equals(env, ctx.attr.programs, programs)

    # Bazel leaves parameter files and runfiles beside a program that it links.
    for action in analysistest.target_actions(env):
        if action.mnemonic == "InstallProgram":
            for file in action.inputs.to_list():
                asserts.false(env, file.short_path.startswith(folder), file.short_path + " was linked in the tree")
    return analysistest.end(env)

tree_test = analysistest.make(
    _tree_test_impl,
    attrs = {"programs": attr.string_list(doc = "Names in bin/, and paths of other files in the tree, sorted.", mandatory = True)},
)
