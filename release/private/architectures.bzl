"""Policies for some targets: what `for_targets` of //release:defs.bzl makes, and what is wrong with it."""

load(
    ":messages.bzl",
    "architecture_given_twice",
    "no_policy_for_other_targets",
    "wrong_architectures",
)

visibility(["//release/..."])

# "arm" is Arm and Thumb, "aarch64" every variant of it; the others are LLVM's names (llvm/embedded/PolicyTarget.h).
ARCHITECTURES = ["aarch64", "arm", "riscv32", "riscv64", "x86_64"]

def policy_for(policy, architectures):
    """A policy that decides for some architectures.

    Args:
      policy: its label.
      architectures: list of str.
    """
    return struct(architectures = architectures, policy = policy)

def label_of(entry):
    """The label of a policy that was given with or without architectures.

    Args:
      entry: a label, or the result of `policy_for`.
    """
    return entry.policy if _has_architectures(entry) else entry

def architectures_of(entry):
    """The architectures of a policy; none of one that was given without.

    Args:
      entry: as of `label_of`.
    """
    return entry.architectures if _has_architectures(entry) else []

def wrong_targets(rule, name, slot, given):
    """The message about the architectures of a slot's policies; None if nothing is wrong.

    Args:
      rule: name of the macro.
      name: name of the target.
      slot: name of the slot.
      given: what the slot got: a label, the result of `policy_for`, or a dict of these.
    """
    entries = given.values() if type(given) == "dict" else [given]
    if not any([_has_architectures(entry) for entry in entries]):
        return None
    if _has_architectures(entries[0]):
        return no_policy_for_other_targets(rule, name, slot)
    named = {}
    for policy, entry in given.items():
        architectures = architectures_of(entry)
        unknown = [architecture for architecture in architectures if architecture not in ARCHITECTURES]
        if unknown or (_has_architectures(entry) and not architectures):
            return wrong_architectures(rule, name, slot, policy, unknown, ARCHITECTURES)
        for architecture in architectures:
            if architecture in named:
                return architecture_given_twice(rule, name, slot, architecture, [named[architecture], policy])
            named[architecture] = policy
    return None

def _has_architectures(entry):
    return type(entry) == "struct"
