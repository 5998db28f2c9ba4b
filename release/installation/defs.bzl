"""`compiler_install`: a command that installs the compiler of a `compiler_tarball` into a directory.

    load("@mlgo//release/installation:defs.bzl", "compiler_install")

    compiler_install(name = "install", tarball = ":tarball")      # bazel run //my:install -- --prefix=DIR
"""

load("@rules_python//python:defs.bzl", "py_binary")

def compiler_install(name, tarball, visibility = None):
    """The command `bazel run :<name> -- --prefix=DIR`; see install.py.

    Args:
      name: name of the target.
      tarball: label of a `compiler_tarball`.
      visibility: visibility of `name`.
    """
    archive = tarball + "_tree"
    py_binary(
        name = name,
        srcs = [Label("//release/installation:install.py")],
        data = [archive],
        env = {"MLGO_COMPILER_ARCHIVE": "$(rlocationpath {})".format(archive)},
        main = Label("//release/installation:install.py"),
        visibility = visibility,
        deps = [Label("//release/installation:installation")],
    )
