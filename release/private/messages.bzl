"""Error texts of release/, as pure functions for testing."""

load("//llvm:slots.bzl", "SLOTS")

visibility(["//release/..."])

def no_saved_model(label, files):
    """The files of a policy contain no SavedModel, or several.

    Args:
      label: the policy's label.
      files: their paths.
    """
    return ("{label}: expected one SavedModel (a directory, or files of which one is named saved_model.pb), found {found}. " +
            "Set --//release:<policy> or the argument <policy> of mlgo_clang (<policy>: {slots}) to the directory `policy` " +
            "of a training run").format(
        found = "{} files: {}".format(len(files), ", ".join(files[:5])) if files else "no file",
        label = label,
        slots = ", ".join(SLOTS.keys()),
    )

def named_policy_is_absent(label, name):
    """A policy that has a name is a `no_policy`.

    Args:
      label: label of the slot.
      name: name of the policy.
    """
    return ("{label}: the policy \"{name}\" is //release:no_policy, which has nothing to select. " +
            "Name a SavedModel, or remove the entry").format(label = label, name = name)

def policies_given_twice(rule, name, arguments):
    """`policies` was given together with arguments that it replaces.

    Args:
      rule: name of the macro.
      name: name of the target.
      arguments: names of these arguments.
    """
    return ("{rule}(name = \"{name}\"): got policies and {arguments}. " +
            "Remove one side: a mlgo_policies already sets all policies and the backend").format(
        arguments = ", ".join(arguments),
        name = name,
        rule = rule,
    )

def wrong_names(rule, name, slot, names):
    """The names of several policies for one slot cannot be used.

    Args:
      rule: name of the macro.
      name: name of the target.
      slot: name of the slot.
      names: the keys of its dict that are no names; empty if the dict is.
    """
    found = ", ".join(["\"{}\"".format(wrong) for wrong in names]) or "an empty dict"
    return ("{rule}(name = \"{name}\"): {slot} got {found}, but a dict of policies needs names of letters, digits, and " +
            "'.', '_', '-' inside, such as \"arm32-size\". Correct the keys").format(
        found = found,
        name = name,
        rule = rule,
        slot = slot,
    )

def wrong_architectures(rule, name, slot, policy, architectures, known):
    """The architectures of a policy are not known ones.

    Args:
      rule: name of the macro.
      name: name of the target.
      slot: name of the slot.
      policy: name of the policy.
      architectures: those that are not; empty if none is given.
      known: list of str, the known ones.
    """
    return ("{rule}(name = \"{name}\"): {slot} \"{policy}\" is for {found}, but the architectures are {known}. " +
            "Correct the list of for_targets").format(
        found = ", ".join(["\"{}\"".format(wrong) for wrong in architectures]) or "no architecture",
        known = ", ".join(known),
        name = name,
        policy = policy,
        rule = rule,
        slot = slot,
    )

def architecture_given_twice(rule, name, slot, architecture, policies):
    """Several policies of a slot are for one architecture.

    Args:
      rule: name of the macro.
      name: name of the target.
      slot: name of the slot.
      architecture: the architecture.
      policies: names of these policies.
    """
    return "{rule}(name = \"{name}\"): {slot} has {policies} for {architecture}. Leave it in one of them".format(
        architecture = architecture,
        name = name,
        policies = " and ".join(["\"{}\"".format(policy) for policy in policies]),
        rule = rule,
        slot = slot,
    )

def no_policy_for_other_targets(rule, name, slot):
    """A slot's only policy, or its first, is for some architectures.

    Args:
      rule: name of the macro.
      name: name of the target.
      slot: name of the slot.
    """
    return ("{rule}(name = \"{name}\"): {slot} has a policy for targets where its default belongs. " +
            "Give a dict whose first policy is a label without for_targets: it decides for the other targets").format(
        name = name,
        rule = rule,
        slot = slot,
    )

def unknown_slots(rule, name, slots):
    """Policies were given for slots that do not exist.

    Args:
      rule: name of the macro.
      name: name of the target.
      slots: names of these slots.
    """
    return "{rule}(name = \"{name}\"): got {slots}, but the policy slots are {known} (//llvm:slots.bzl). Correct the name".format(
        known = ", ".join(SLOTS.keys()),
        name = name,
        rule = rule,
        slots = ", ".join(slots),
    )
