"""`chromium_programs`: executables of Chromium's code for //mlgo:evaluate_chromium, compiled as its corpora are."""

load("//mlgo/corpus/chromium:defs.bzl", "chromium_project")
load("//mlgo/evaluation/gn:defs.bzl", "mlgo_gn_programs")

def chromium_programs(name, srcs, descriptions, tree = "@chromium_libraries", gn_args = {}, **kwargs):
    """Executables of Chromium's code, compiled with the options of a corpus: data for //mlgo:evaluate_chromium.

    Args:
      name: of the target.
      srcs: files of //mlgo_programs, BUILD.gn among them.
      descriptions: a JSON file for each executable.
      tree: repository of a tree that has all that the executables need.
      gn_args: further arguments, values as gn writes them; they count before ours.
      **kwargs: common attributes, and `data` of mlgo_gn_programs.
    """
    mlgo_gn_programs(
        name = name,
        srcs = srcs,
        descriptions = descriptions,
        tags = kwargs.pop("tags", []) + ["manual"],
        **(chromium_project(tree, gn_args) | kwargs)
    )
