"""`command`: a program of this folder that users run."""

load("@rules_python//python:defs.bzl", "py_binary", "py_library")

visibility(["//mlgo"])

def command(name, library = None, deps = [], **kwargs):
    """The command in `<name>.py`.

    Args:
      name: the command.
      library: the target of its module and of what the module imports; tests use it, without compilers. By default `<name>_command`, made of `deps`.
      deps: what the module imports.
      **kwargs: what else a `py_binary` takes: `data`, `env`.
    """
    if not library:
        library = name + "_command"
        py_library(
            name = library,
            srcs = [name + ".py"],
            visibility = ["//tests:__subpackages__"],
            deps = deps,
        )
    py_binary(
        name = name,
        srcs = [name + ".py"],
        visibility = ["//visibility:public"],
        deps = [library],
        **kwargs
    )
