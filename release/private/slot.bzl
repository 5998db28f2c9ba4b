"""One slot of a program filled: with a compiled policy, or with the statement that there is none."""

load("@bazel_tools//tools/cpp:toolchain_utils.bzl", "use_cpp_toolchain")
load("//release/private:cc.bzl", "generated_library")
load("//release/private:compiled_policy.bzl", "CompiledPolicyInfo", "compiled_policy")

# What a program can carry: attribute of mlgo_clang -> problem, class and slot (release/embedded/EmbeddedModel.h).
SLOTS = {
    "eviction_policy": struct(problem = "regalloc_eviction", cpp_class = "mlgo::EvictionPolicy", slot = "EvictionSlot"),
    "inlining_policy": struct(problem = "inlining_for_size", cpp_class = "mlgo::InliningPolicy", slot = "InliningSlot"),
    "priority_policy": struct(problem = "regalloc_priority", cpp_class = "mlgo::PriorityPolicy", slot = "PrioritySlot"),
}

_ABSENT = """\
// Written by release/private/slot.bzl.
#include "EmbeddedModel.h"

const mlgo::PolicySlot mlgo::{slot} = {{"{problem}", "none", nullptr}};
"""

def _policy_slot_impl(ctx):
    policy = ctx.attr.policy[CompiledPolicyInfo]
    unit = ctx.actions.declare_file(ctx.label.name + ".cpp")
    if policy.directory == None:
        ctx.actions.write(unit, _ABSENT.format(problem = policy.problem, slot = ctx.attr.slot))
    else:
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
            progress_message = "Naming the policy of %{label}",
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
        "policy": attr.label(doc = "A `compiled_policy`.", mandatory = True, providers = [CcInfo, CompiledPolicyInfo]),
        "slot": attr.string(doc = "Name of the slot in EmbeddedModel.h.", mandatory = True),
        "_cc_toolchain": attr.label(default = "@bazel_tools//tools/cpp:current_cc_toolchain"),
        "_headers": attr.label(default = "//release:embedded_model"),
        "_slot": attr.label(default = "//release:slot", executable = True, cfg = "exec"),
    },
    fragments = ["cpp"],
    provides = [CcInfo],
    toolchains = use_cpp_toolchain(),
)

def policy_slots(name, policies, backend):
    """Fills every slot of SLOTS.

    Args:
      name: prefix of the targets.
      policies: attribute of mlgo_clang -> label of a policy, or None.
      backend: aot, cpp, or None for what --//release:backend says.

    Returns:
      Labels of the libraries that define the slots.
    """
    slots = []
    for attribute, slot in SLOTS.items():
        compiled_policy(
            name = "{}_{}".format(name, attribute),
            backend = backend or "",
            cpp_class = slot.cpp_class,
            policy = policies.get(attribute) or Label("//release:no_policy"),
            problem = slot.problem,
            visibility = ["//visibility:private"],
        )
        slots.append("{}_{}_slot".format(name, attribute))
        _policy_slot(
            name = slots[-1],
            policy = "{}_{}".format(name, attribute),
            slot = slot.slot,
            visibility = ["//visibility:private"],
        )
    return slots
