"""How a compiler that is itself built by Bazel can be a toolchain: it and all below it are built by the packaged clang.

The flag //toolchains/cc:bootstrap says that such a compiler is being built; toolchains made of one do not offer themselves then
(`target_settings`), and the next registered one, the packaged clang, serves.
"""

# As a string made from a Label: it must name this flag in whatever workspace it is used.
_FLAG = str(Label("//toolchains/cc:bootstrap"))

# In mlgo's own workspace no compiler of ours is registered, and configurations stay as they are: `bazel-bin/release/clang` is
# where users look for it.
_IS_ROOT = not Label("//:MODULE.bazel").repo_name

def _always_impl(_settings, _attr):
    return {_FLAG: True}

def _elsewhere_impl(settings, _attr):
    return {_FLAG: settings[_FLAG] or not _IS_ROOT}

_always = transition(
    implementation = _always_impl,
    inputs = [],
    outputs = [_FLAG],
)

# For programs of LLVM: in other workspaces too they are the packaged clang's work, and so the same bytes.
bootstrap_elsewhere = transition(
    implementation = _elsewhere_impl,
    inputs = [_FLAG],
    outputs = [_FLAG],
)

def _bootstrapped_impl(ctx):
    return [DefaultInfo(files = depset([ctx.executable.program]))]

bootstrapped = rule(
    implementation = _bootstrapped_impl,
    doc = "A program, built without the toolchains that are made of it.",
    cfg = _always,
    attrs = {
        "program": attr.label(doc = "The program.", executable = True, cfg = "target", mandatory = True),
        "_allowlist_function_transition": attr.label(default = "@bazel_tools//tools/allowlists/function_transition_allowlist"),
    },
)
