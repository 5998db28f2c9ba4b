"""Policies as the files that LLVM's own CMake build takes.

    load("@mlgo//release/own_llvm:defs.bzl", "cmake_models")

    cmake_models(
        name = "models",
        eviction_policy = "//models/regalloc_eviction:policy",
    )

    cmake -G Ninja -C bazel-bin/my/models/mlgo.cmake ... llvm-project/llvm
"""

load("@rules_cc//cc:find_cc_toolchain.bzl", "find_cpp_toolchain", "use_cc_toolchain")
load("@rules_cc//cc/common:cc_common.bzl", "cc_common")
load("//llvm:slots.bzl", "SLOTS")
load("//llvm/private:slots.bzl", "GENERATED_COPTS", "policy_class")
load("//release/private:compiled_policy.bzl", "CompiledPolicyInfo", "compiled_policy")
load(":cmake.bzl", "MODEL_PATHS", "RUNTIME", "cache_file")

# The table of slots decides which models there are; a stock LLVM can take those of them that MODEL_PATHS names.
_SLOTS_OF_STOCK = [slot for slot in MODEL_PATHS if slot in SLOTS]

def _object(ctx, slot, header, source):
    """The position-independent object of a policy's source."""
    toolchain = find_cpp_toolchain(ctx)
    _, outputs = cc_common.compile(
        name = "{}_object_{}".format(ctx.label.name, slot),
        actions = ctx.actions,
        cc_toolchain = toolchain,
        disallow_nopic_outputs = True,
        feature_configuration = cc_common.configure_features(
            ctx = ctx,
            cc_toolchain = toolchain,
            requested_features = ctx.features,
            unsupported_features = ctx.disabled_features,
        ),
        private_hdrs = [header],
        srcs = [source],
        user_compile_flags = GENERATED_COPTS,
    )
    return outputs.pic_objects[0]

def _model(ctx, slot, policy):
    """Declares the header and the object of one policy in the folder."""
    model = SLOTS[slot]["model"]
    header, source = [
        [file for file in policy[DefaultInfo].files.to_list() if file.extension == suffix][0]
        for suffix in ("h", "cpp")
    ]
    info = policy[CompiledPolicyInfo]
    made = ctx.actions.declare_file("{}/{}.h".format(ctx.label.name, model))
    arguments = ctx.actions.args()
    arguments.add(info.directory, format = "--policy=%s")
    arguments.add(info.problem, format = "--problem=%s")
    arguments.add(info.cpp_class, format = "--cpp_class=%s")
    arguments.add(header, format = "--policy_header=%s")
    arguments.add(model, format = "--model=%s")
    arguments.add(made, format = "--header=%s")
    ctx.actions.run(
        executable = ctx.executable._model_header,
        arguments = [arguments],
        inputs = info.files + [header],
        outputs = [made],
        mnemonic = "ModelHeader",
        progress_message = "Writing the header of %{label} for LLVM's build",
    )
    compiled = _object(ctx, slot, header, source)
    object = ctx.actions.declare_file("{}/{}.o".format(ctx.label.name, model))

    # The header's action refuses policies that cannot be used, so the object waits for it. A copy, for the folder is copied elsewhere.
    ctx.actions.run_shell(
        command = 'cp "$1" "$2"',
        arguments = [compiled.path, object.path],
        inputs = [compiled, made],
        outputs = [object],
        mnemonic = "ModelObject",
    )
    return [made, object]

def _cmake_models_impl(ctx):
    files, models = [], {}
    for slot in _SLOTS_OF_STOCK:
        policy = getattr(ctx.attr, slot)
        absent = policy[CompiledPolicyInfo].directory == None
        models[slot] = None if absent else SLOTS[slot]["model"]
        if not absent:
            files.extend(_model(ctx, slot, policy))
    for name, content in [("mlgo.cmake", cache_file(models)), ("runtime/xla_aot_runtime_src/CMakeLists.txt", RUNTIME)]:
        file = ctx.actions.declare_file("{}/{}".format(ctx.label.name, name))
        ctx.actions.write(file, content)
        files.append(file)
    return [DefaultInfo(files = depset(files), runfiles = ctx.runfiles(files))]

_cmake_models = rule(
    implementation = _cmake_models_impl,
    attrs = {
        slot: attr.label(doc = "A `compiled_policy`.", mandatory = True, providers = [CompiledPolicyInfo])
        for slot in _SLOTS_OF_STOCK
    } | {
        "_cc_toolchain": attr.label(default = "@bazel_tools//tools/cpp:current_cc_toolchain"),
        "_model_header": attr.label(default = "//release/own_llvm:model_header", executable = True, cfg = "exec"),
    },
    fragments = ["cpp"],
    toolchains = use_cc_toolchain(),
)

def cmake_models(name, eviction_policy = None, inlining_policy = None, visibility = None):
    """The folder `name` with the files of policies for LLVM's own build, and `mlgo.cmake` to pass to cmake with -C.

    The policies are compiled to C++ (backend `cpp`). One that looks at features which LLVM does not compute without our patches fails the build:
    train inlining for `--problem=inlining_for_size+stock`.

    Args:
      name: name of the target and of the folder.
      eviction_policy: label of a SavedModel, or None.
      inlining_policy: label of a SavedModel, or None.
      visibility: visibility of `name`.
    """
    given = {"eviction_policy": eviction_policy, "inlining_policy": inlining_policy}
    for slot in _SLOTS_OF_STOCK:
        compiled_policy(
            name = "{}_{}".format(name, slot),
            backend = "cpp",
            cpp_class = "mlgo::" + policy_class(slot),
            policy = given[slot] or Label("//release:no_policy"),
            problem = SLOTS[slot]["problem"],
            visibility = ["//visibility:private"],
        )
    _cmake_models(
        name = name,
        visibility = visibility,
        **{slot: "{}_{}".format(name, slot) for slot in _SLOTS_OF_STOCK}
    )
