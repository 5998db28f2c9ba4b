"""`command`: a program of this folder that users run."""

load("@rules_python//python:defs.bzl", "py_binary")

visibility(["//mlgo"])

def command(name, library, **kwargs):
    """The command in `<name>.py`.

    Args:
      name: the command.
      library: the target of its module and of what the module imports; tests use it, without compilers.
      **kwargs: what else a `py_binary` takes: `data`, `env`.
    """
    py_binary(
        name = name,
        srcs = [name + ".py"],
        visibility = ["//visibility:public"],
        deps = [library],
        **kwargs
    )
