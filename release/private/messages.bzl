"""Error texts of release/, as pure functions that a test reads."""

def no_saved_model(label, files):
    """`files` hold no SavedModel, or several.

    Args:
      label: the policy's label.
      files: paths it stands for.
    """
    return ("{label}: expected one SavedModel (a directory, or files of which one is called saved_model.pb), found {found}. " +
            "Point --//release:eviction_policy, inlining_policy or priority_policy, or that argument of mlgo_clang, at the directory `policy` " +
            "that a training run wrote").format(
        found = "{} files: {}".format(len(files), ", ".join(files[:5])) if files else "no file",
        label = label,
    )

def policies_given_twice(rule, name, arguments):
    """`policies` and what it stands for were both given.

    Args:
      rule: name of the macro.
      name: name of the target.
      arguments: the others that were given.
    """
    return "{rule}(name = \"{name}\"): got policies and {arguments}. Leave out one side: a mlgo_policies already says what is inside".format(
        arguments = ", ".join(arguments),
        name = name,
        rule = rule,
    )
