"""Fills the policy slots of a program: each with a compiled policy, or with the library that defines it as empty."""

load("@bazel_tools//tools/cpp:toolchain_utils.bzl", "use_cpp_toolchain")
load("//llvm:slots.bzl", "SLOTS")
load("//llvm/private:slots.bzl", "policy_class", "slot_variable")
load("//release/private:cc.bzl", "generated_library")
load("//release/private:compiled_policy.bzl", "CompiledPolicyInfo", "compiled_policy")

def _policy_slot_impl(ctx):
    policy = ctx.attr.policy[CompiledPolicyInfo]
    if policy.directory == None:
        return [ctx.attr.absent[CcInfo]]
    unit = ctx.actions.declare_file(ctx.label.name + ".cpp")
    arguments = ctx.actions.args()
    arguments.add(policy.directory, format = "--policy=%s")
    arguments.add(policy.problem, format = "--problem=%s")
    arguments.add(policy.backend, format = "--backend=%s")
    arguments.add(policy.cpp_class, format = "--cpp_class=%s")
    arguments.add(policy.header, format = "--header=%s")
    arguments.add(ctx.attr.slot, format = "--slot=%s")
    arguments.add(unit, format = "--unit=%s")
    ctx.actions.run(
        executable = ctx.executable._slot,
        arguments = [arguments],
        inputs = policy.files,
        outputs = [unit],
        mnemonic = "PolicySlot",
        progress_message = "Filling the policy slot %{label}",
    )
    return [generated_library(
        ctx,
        contexts = [ctx.attr.policy[CcInfo], ctx.attr._headers[CcInfo]],
        srcs = [unit],
    )]

_policy_slot = rule(
    implementation = _policy_slot_impl,
    doc = "A C++ library that defines one slot.",
    attrs = {
        "absent": attr.label(doc = "The library that defines the slot as empty.", mandatory = True, providers = [CcInfo]),
        "policy": attr.label(doc = "A `compiled_policy`.", mandatory = True, providers = [CcInfo, CompiledPolicyInfo]),
        "slot": attr.string(doc = "C++ variable of the slot, in the namespace mlgo.", mandatory = True),
        "_cc_toolchain": attr.label(default = "@bazel_tools//tools/cpp:current_cc_toolchain"),
        "_headers": attr.label(default = "//llvm:embedded_model"),
        "_slot": attr.label(default = "//release:slot", executable = True, cfg = "exec"),
    },
    fragments = ["cpp"],
    provides = [CcInfo],
    toolchains = use_cpp_toolchain(),
)

def policy_slots(name, policies, backend):
    """Fills every slot of //llvm:slots.bzl.

    Args:
      name: prefix of the targets.
      policies: name of a slot -> label of a policy, or None.
      backend: aot, cpp, or None for the value of --//release:backend.

    Returns:
      Labels of the libraries that define the slots.
    """
    libraries = []
    for slot in SLOTS:
        policy = "{}_{}".format(name, slot)
        compiled_policy(
            name = policy,
            backend = backend or "",
            cpp_class = "mlgo::" + policy_class(slot),
            policy = policies.get(slot) or Label("//release:no_policy"),
            problem = SLOTS[slot]["problem"],
            visibility = ["//visibility:private"],
        )
        libraries.append(policy + "_slot")
        _policy_slot(
            name = libraries[-1],
            absent = Label("//llvm:no_" + slot),
            policy = policy,
            slot = slot_variable(slot),
            visibility = ["//visibility:private"],
        )
    return libraries
