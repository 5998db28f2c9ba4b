"""Error texts of release/, as pure functions that a test reads."""

def no_saved_model(label, files):
    """`files` hold no SavedModel, or several.

    Args:
      label: the policy's label.
      files: paths it stands for.
    """
    return ("{label}: expected one SavedModel (a directory, or files of which one is called saved_model.pb), found {found}. " +
            "Point --//release:eviction_policy, or eviction_policy of mlgo_clang, at the directory `policy` that a training run wrote").format(
        found = "{} files: {}".format(len(files), ", ".join(files[:5])) if files else "no file",
        label = label,
    )
