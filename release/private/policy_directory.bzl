"""Finds the policy among the files of a label."""

load("//release/private:messages.bzl", "no_saved_model")

visibility(["//release/..."])

def policy_directory(label, files):
    """(directory, None) of the SavedModel among `files`, or (None, an error message).

    Args:
      label: the policy's label, for the message.
      files: list of File; a lone directory, or files of which one is called saved_model.pb.
    """
    models = [file for file in files if file.basename == "saved_model.pb"]
    if len(models) == 1:
        return models[0].dirname, None

    # May be a source directory, which looks like a file here. The action checks its contents.
    if len(files) == 1 and not models:
        return files[0].path, None
    return None, no_saved_model(label, [file.short_path for file in files])
