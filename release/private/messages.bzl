"""Error texts of release/, as pure functions for testing."""

load("//llvm:slots.bzl", "SLOTS")

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
