"""`python_package`, `python_tests`: the Python of one folder, as a library and a target for each of its tests.

A folder whose modules are one library, with two tests that need more than the others:

    load("//toolchains/python:package.bzl", "python_package")

    python_package(
        name = "symbols",
        test_deps = ["//mlgo/compiler/testing"],
        tests = {
            "demangle_test": dict(size = "medium"),
            "names_test": dict(
                data = ["@llvm//:runtime"],
                programs = ["@llvm//:clang"],
            ),
        },
        deps = ["//mlgo/run"],
    )

A new module or test of the folder needs no entry. A folder with several libraries writes them as `py_library`, and its tests with
`python_tests`. //tests/architecture compares `deps` with the imports of the modules.
"""

load("@rules_python//python:defs.bzl", "py_library", "py_test")

_TEST_FILES = ["*_test.py"]

# Runs a module's tests, so that the module needs no `if __name__ == "__main__"`.
_MAIN = "//toolchains/python/unit_tests:main.py"

def python_package(name, deps = [], exclude = [], test_deps = [], test_defaults = {}, tests = {}, **kwargs):
    """A `py_library` of the folder's modules, and its tests.

    Args:
      name: the library.
      deps: what the modules import from elsewhere.
      exclude: names of files that belong to other targets: programs, tests with a rule of their own.
      test_deps: what the tests import besides the library and its `deps`.
      test_defaults: arguments of every test, such as `size`; without one, "small".
      tests: see `python_tests`.
      **kwargs: more arguments of the library, such as `data` and `visibility`.
    """
    py_library(
        name = name,
        srcs = native.glob(["*.py"], exclude = _TEST_FILES + exclude),
        deps = deps,
        **kwargs
    )
    python_tests(
        deps = [":" + name] + test_deps,
        exclude = exclude,
        tests = tests,
        **test_defaults
    )

def python_tests(deps, exclude = [], tests = {}, **kwargs):
    """A `py_test` for each *_test.py of the folder, named like its file.

    Args:
      deps: what the tests import.
      exclude: names of files that are no tests of this kind.
      tests: name -> arguments of that `py_test`. Its `deps` are added to `deps`. `programs`: labels whose paths are the test's arguments.
        `main`: the test's own file, if it runs its tests itself.
      **kwargs: arguments of every test, unless `tests` has another value. `size` is "small" if nothing else is said.
    """
    found = [file.removesuffix(".py") for file in native.glob(_TEST_FILES, allow_empty = True, exclude = exclude)]
    for name in tests:
        if name not in found:
            fail("//{}: tests names {}, and there is no {}.py; correct or remove the entry".format(native.package_name(), name, name))
    for name in found:
        _python_test(name, deps, **({"size": "small"} | kwargs | tests.get(name, {})))

def _python_test(name, common_deps, args = [], data = [], deps = [], main = _MAIN, programs = [], **kwargs):
    module = (native.package_name() + "/" + name).replace("/", ".")
    py_test(
        name = name,
        srcs = [name + ".py"] + ([main] if main == _MAIN else []),
        args = ([module] if main == _MAIN else []) + ["$(rootpath {})".format(program) for program in programs] + args,
        data = programs + data,
        main = main,
        deps = depset(common_deps + deps).to_list(),
        **kwargs
    )
