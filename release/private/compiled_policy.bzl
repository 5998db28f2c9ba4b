"""A policy as a C++ class, compiled by one of the backends of release/backends."""

load("@rules_cc//cc:find_cc_toolchain.bzl", "use_cc_toolchain")
load("@rules_cc//cc/common:cc_info.bzl", "CcInfo")
load("//release/private:by_backend.bzl", "by_backend")
load("//release/private:cc.bzl", "generated_library")
load("//release/private:policy_directory.bzl", "policy_directory")

visibility(["//release/...", "//tests/..."])

BACKENDS = ["aot", "cpp"]

AbsentPolicyInfo = provider("Marks a `no_policy`.", fields = {})

CompiledPolicyInfo = provider(
    "A compiled policy; with `directory = None`, no policy.",
    fields = {
        "backend": "str: aot or cpp",
        "cpp_class": "str: name of the class, with its namespace",
        "directory": "str: path of the policy; None for a `no_policy`",
        "files": "list of File: the files of the policy",
        "header": "str: name of the class's header in an #include",
        "problem": "str: folder below mlgo/problems",
    },
)

def _no_policy_impl(_):
    return [AbsentPolicyInfo()]

no_policy = rule(
    implementation = _no_policy_impl,
    doc = "Stands for no policy where an attribute requires a policy.",
)

def _compiled_policy_impl(ctx):
    backend = ctx.attr.backend
    header_name = ctx.label.name + ".h"
    found = {"backend": backend, "cpp_class": ctx.attr.cpp_class, "header": header_name, "problem": ctx.attr.problem}
    if AbsentPolicyInfo in ctx.attr.policy:
        return [CcInfo(), CompiledPolicyInfo(directory = None, files = [], **found)]

    directory, wrong = policy_directory(ctx.attr.policy.label, ctx.files.policy)
    if wrong:
        fail(wrong)
    header = ctx.actions.declare_file("{}_generated/{}".format(ctx.label.name, header_name))
    kind, suffix = ("object", "o") if backend == "aot" else ("source", "cpp")
    body = ctx.actions.declare_file(ctx.label.name + "." + suffix, sibling = header)
    arguments = ctx.actions.args()
    arguments.add(directory, format = "--policy=%s")
    arguments.add(ctx.attr.problem, format = "--problem=%s")
    arguments.add(ctx.attr.cpp_class, format = "--cpp_class=%s")
    arguments.add(header, format = "--header=%s")
    arguments.add(body, format = "--{}=%s".format(kind))
    ctx.actions.run(
        executable = ctx.executable.program,
        arguments = [arguments],
        inputs = ctx.files.policy,
        outputs = [header, body],
        # The program's Python packages are a source directory, which Bazel older than 8.3 does not send to workers.
        execution_requirements = {"no-remote-exec": "1"},
        mnemonic = "AotPolicy" if backend == "aot" else "CppPolicy",
        progress_message = "Compiling the policy %{label} (" + backend + ")",
    )
    library = generated_library(
        ctx,
        contexts = [runtime[CcInfo] for runtime in ctx.attr.runtime],
        srcs = [] if backend == "aot" else [body],
        hdrs = [header],
        objects = [body] if backend == "aot" else [],
        includes = [header.dirname],
    )
    return [
        library,
        CompiledPolicyInfo(directory = directory, files = ctx.files.policy, **found),
        DefaultInfo(files = depset([header, body])),
    ]

_compiled_policy = rule(
    implementation = _compiled_policy_impl,
    doc = "See the macro.",
    attrs = {
        "backend": attr.string(doc = "The backend.", mandatory = True, values = BACKENDS),
        "cpp_class": attr.string(doc = "Name of the C++ class, with its namespace.", mandatory = True),
        "policy": attr.label(
            doc = "A SavedModel: a directory, or files of which one is called saved_model.pb; or a `no_policy`.",
            allow_files = True,
            mandatory = True,
        ),
        "problem": attr.string(doc = "Folder below mlgo/problems.", mandatory = True),
        "program": attr.label(doc = "The backend's program.", executable = True, cfg = "exec", mandatory = True),
        "runtime": attr.label_list(doc = "Libraries that the class calls.", providers = [CcInfo]),
        "_cc_toolchain": attr.label(default = "@bazel_tools//tools/cpp:current_cc_toolchain"),
    },
    fragments = ["cpp"],
    provides = [CcInfo, CompiledPolicyInfo],
    toolchains = use_cc_toolchain(),
)

def compiled_policy(name, backend = "", **kwargs):
    """A policy as a C++ library with one class, declared in `<name>.h`.

    With every backend, the class has the interface of TensorFlow's ahead-of-time compiler. Only `aot` needs TensorFlow.

    Args:
      name: name of the library.
      backend: of BACKENDS; default: the value of --//release:backend.
      **kwargs: `cpp_class`, name of the class with its namespace; `policy`, a SavedModel (a directory, or files of which one is called
        saved_model.pb) or a `no_policy`; `problem`, folder below mlgo/problems; and what every rule has.
    """
    _compiled_policy(
        name = name,
        backend = by_backend(backend, "cpp", "aot"),
        program = by_backend(
            backend,
            Label("//release/backends/cpp:cpp_policy"),
            Label("//release/backends/aot:aot_policy"),
        ),
        runtime = by_backend(backend, [], [Label("//third_party/tensorflow:aot_runtime")]),
        **kwargs
    )
