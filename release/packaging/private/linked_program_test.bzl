"""Analysis test of what packs a compiler: it reads the program that was linked, so that no build of a package copies it into the compiler's tree."""

load("@bazel_skylib//lib:unittest.bzl", "analysistest", "asserts")

visibility(["//release/packaging/..."])

def _linked_program_test_impl(ctx):
    env = analysistest.begin(ctx)
    read = {
        file.short_path: None
        for action in analysistest.target_actions(env)
        for file in action.inputs.to_list()
        if file.short_path.endswith((".linked/clang", ".llvm/bin/clang"))
    }
    asserts.equals(env, [ctx.attr.program], read.keys())
    return analysistest.end(env)

linked_program_test = analysistest.make(
    _linked_program_test_impl,
    attrs = {"program": attr.string(doc = "Path of the program that was linked.", mandatory = True)},
)
