"""Fills the policy slots of a program: each with compiled policies, or with the library that defines it as empty."""

load("@rules_cc//cc:find_cc_toolchain.bzl", "use_cc_toolchain")
load("@rules_cc//cc/common:cc_info.bzl", "CcInfo")
load("//llvm:slots.bzl", "SLOTS")
load("//llvm/private:slots.bzl", "policy_class", "slot_variable")
load("//release/private:architectures.bzl", "architectures_of", "label_of")
load("//release/private:cc.bzl", "generated_library")
load("//release/private:compiled_policy.bzl", "CompiledPolicyInfo", "compiled_policy")
load("//release/private:messages.bzl", "named_policy_is_absent")

visibility(["//release/..."])

def _policy_slot_impl(ctx):
    policies = [policy[CompiledPolicyInfo] for policy in ctx.attr.policies]
    for name, policy in zip(ctx.attr.names, policies):
        if policy.directory == None and name:
            fail(named_policy_is_absent(ctx.label, name))
    if policies[0].directory == None:
        return [ctx.attr.absent[CcInfo]]
    unit = ctx.actions.declare_file(ctx.label.name + ".cpp")
    arguments = ctx.actions.args()
    for name, architectures, policy in zip(ctx.attr.names, ctx.attr.architectures, policies):
        arguments.add(name, format = "--name=%s")
        arguments.add(architectures, format = "--architectures=%s")
        arguments.add(policy.directory, format = "--policy=%s")
        arguments.add(policy.cpp_class, format = "--cpp_class=%s")
        arguments.add(policy.header, format = "--header=%s")
    arguments.add(policies[0].problem, format = "--problem=%s")
    arguments.add(policies[0].backend, format = "--backend=%s")
    arguments.add(ctx.attr.slot, format = "--slot=%s")
    arguments.add(unit, format = "--unit=%s")
    ctx.actions.run(
        executable = ctx.executable._slot,
        arguments = [arguments],
        inputs = [file for policy in policies for file in policy.files],
        outputs = [unit],
        mnemonic = "PolicySlot",
        progress_message = "Filling the policy slot %{label}",
    )
    return [generated_library(
        ctx,
        contexts = [policy[CcInfo] for policy in ctx.attr.policies] + [ctx.attr._headers[CcInfo]],
        srcs = [unit],
    )]

_policy_slot = rule(
    implementation = _policy_slot_impl,
    doc = "A C++ library that defines one slot.",
    attrs = {
        "absent": attr.label(doc = "The library that defines the slot as empty.", mandatory = True, providers = [CcInfo]),
        "architectures": attr.string_list(
            doc = "The architectures of each policy, with a comma between them; empty for the first.",
            mandatory = True,
        ),
        "names": attr.string_list(doc = "The name of each policy; the empty string for an only policy.", mandatory = True),
        "policies": attr.label_list(
            doc = "Each a `compiled_policy`; the first decides by default.",
            mandatory = True,
            providers = [CcInfo, CompiledPolicyInfo],
        ),
        "slot": attr.string(doc = "C++ variable of the slot, in the namespace mlgo.", mandatory = True),
        "_cc_toolchain": attr.label(default = "@bazel_tools//tools/cpp:current_cc_toolchain"),
        "_headers": attr.label(default = "//llvm:embedded_model"),
        "_slot": attr.label(default = "//release:slot", executable = True, cfg = "exec"),
    },
    fragments = ["cpp"],
    provides = [CcInfo],
    toolchains = use_cc_toolchain(),
)

def policy_slots(name, policies, backend):
    """Fills every slot of //llvm:slots.bzl.

    Args:
      name: prefix of the targets.
      policies: name of a slot -> label of a policy, dict of names and policies (labels or `policy_for`), or None.
      backend: aot, cpp, or None for the value of --//release:backend.

    Returns:
      Labels of the libraries that define the slots.
    """
    libraries = []
    for slot in SLOTS:
        prefix = "{}_{}".format(name, slot)
        given = policies.get(slot) or Label("//release:no_policy")
        named = given if type(given) == "dict" else {"": given}
        compiled = []
        for policy_name, policy in named.items():
            # The linker needs classes of different names; policies may share a name up to characters that C++ lacks.
            cpp_class = "mlgo::{}{}".format(policy_class(slot), len(compiled) or "")
            compiled.append("{}_{}".format(prefix, policy_name) if policy_name else prefix)
            compiled_policy(
                name = compiled[-1],
                backend = backend or "",
                cpp_class = cpp_class,
                policy = label_of(policy),
                problem = SLOTS[slot]["problem"],
                visibility = ["//visibility:private"],
            )
        libraries.append(prefix + "_slot")
        _policy_slot(
            name = libraries[-1],
            absent = Label("//llvm:no_" + slot),
            architectures = [",".join(architectures_of(policy)) for policy in named.values()],
            names = named.keys(),
            policies = compiled,
            slot = slot_variable(slot),
            visibility = ["//visibility:private"],
        )
    return libraries
