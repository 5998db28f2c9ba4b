"""Repository rules for the interpreter and for its packages."""

load(":messages.bzl", "compile_failed", "install_failed")

_INTERPRETER_FILES = ["byte_code.py", "interpreter.py"]
_INSTALL_FILES = ["bounds.py", "byte_code.py", "install.py", "pip.py", "requirements.py", "sitecustomize.py", "wheels.py"]

def _run_module(rctx, interpreter, module, files, arguments):
    """Runs a module of this folder; a change of one of `files`, what it consists of, runs it again."""
    paths = [rctx.path(Label("//toolchains/python:" + name)) for name in files]

    # By one of its own files: by MODULE.bazel, each change of that file would unpack all packages anew.
    root = paths[0].dirname.dirname.dirname
    return rctx.execute(
        [interpreter, "-B", "-m", "toolchains.python." + module] + arguments,
        environment = {"PYTHONPATH": str(root), "PYTHONNOUSERSITE": "1"},
        timeout = rctx.attr.timeout,
    )

def _interpreter_repository_impl(rctx):
    packages = rctx.path(rctx.attr.python)
    result = _run_module(rctx, packages, "interpreter", _INTERPRETER_FILES, ["--root", rctx.path(".")])
    if result.return_code:
        fail(compile_failed(rctx.name, result.stderr))
    rctx.file("BUILD.bazel", rctx.read(rctx.attr.build_file))

interpreter_repository = repository_rule(
    implementation = _interpreter_repository_impl,
    doc = "A copy of an unpacked CPython which looks at no directory but its own and whose standard library is compiled.",
    attrs = {
        "build_file": attr.label(doc = "BUILD file of the repository.", allow_single_file = True, mandatory = True),
        "python": attr.label(doc = "The program usr/bin/python3.11 in the tree to copy; it runs.", allow_single_file = True, mandatory = True),
        "timeout": attr.int(doc = "Seconds it may take.", default = 600),
    },
)

def _pip_repository_impl(rctx):
    # No `environ`: which index serves the archives makes no difference to their bytes.
    rctx.report_progress("downloading and unpacking Python packages")
    result = _run_module(rctx, rctx.path(rctx.attr.python), "install", _INSTALL_FILES, [
        "--lock",
        rctx.path(rctx.attr.lock),
        "--request",
        rctx.path(rctx.attr.request),
        "--root",
        rctx.path("."),
    ])
    if result.return_code:
        fail(install_failed(rctx.name, result.stderr))
    rctx.file("BUILD.bazel", rctx.read(rctx.attr.build_file))

def _wheels_repository_impl(rctx):
    rctx.report_progress("downloading Python packages")
    result = _run_module(rctx, rctx.path(rctx.attr.python), "download", _INSTALL_FILES + ["download.py"], [
        "--lock",
        rctx.path(rctx.attr.lock),
        "--python_version",
        rctx.attr.python_version,
        "--output",
        rctx.path("wheels"),
    ])
    if result.return_code:
        fail(install_failed(rctx.name, result.stderr))
    rctx.file("BUILD.bazel", "exports_files([\"wheels\"])\n")

wheels_repository = repository_rule(
    implementation = _wheels_repository_impl,
    doc = "Downloads what a lock pins with pip, for a version of Python that need not be there, into the directory `wheels`.",
    attrs = {
        "lock": attr.label(doc = "The lock.", allow_single_file = True, mandatory = True),
        "python": attr.label(doc = "The interpreter that runs pip.", allow_single_file = True, mandatory = True),
        "python_version": attr.string(doc = "The version that the packages are for, such as 3.13.", mandatory = True),
        "timeout": attr.int(doc = "Seconds the download may take.", default = 3600),
    },
)

pip_repository = repository_rule(
    implementation = _pip_repository_impl,
    doc = "Downloads what a lock pins with pip (its configuration on this machine applies) and unpacks it into `site`.",
    attrs = {
        "build_file": attr.label(doc = "BUILD file of the repository.", allow_single_file = True, mandatory = True),
        "lock": attr.label(doc = "requirements_lock.txt.", allow_single_file = True, mandatory = True),
        "python": attr.label(doc = "The interpreter that runs pip.", allow_single_file = True, mandatory = True),
        "request": attr.label(doc = "requirements.in.", allow_single_file = True, mandatory = True),
        "timeout": attr.int(doc = "Seconds download and unpacking may take.", default = 3600),
    },
)
