"""Where among the files of a label the policy lies."""

load("//release/private:messages.bzl", "no_saved_model")

def policy_directory(label, files):
    """(directory, None) of the SavedModel among `files`, or (None, what is wrong).

    Args:
      label: the policy's label, for the message.
      files: list of File; a lone directory, or files of which one is called saved_model.pb.
    """
    models = [file for file in files if file.basename == "saved_model.pb"]
    if len(models) == 1:
        return models[0].dirname, None

    # What a lone file without extension holds, only the action can see; a source directory looks like one here.
    if len(files) == 1 and not models:
        return files[0].path, None
    return None, no_saved_model(label, [file.short_path for file in files])
