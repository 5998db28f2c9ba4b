"""Dependencies of one workspace, read from its files: imports of Python modules and labels of BUILD and .bzl files.

Nothing is executed. BUILD files are parsed as Python, whose syntax they share.
"""

import ast
import dataclasses
import fnmatch
import pathlib
import posixpath
from collections.abc import Iterable, Iterator
from typing import TypeGuard

#: Arguments of a rule that hold labels but are no dependencies.
NOT_DEPENDENCIES = ("default_visibility", "visibility")
PYTHON_RULES = ("py_binary", "py_library", "py_test")
#: Macros of toolchains/python/package.bzl, and their arguments that only tests use.
PACKAGE_MACROS = ("python_package", "python_tests")
TEST_ARGUMENTS = ("test_deps", "tests")
#: Packages of a site that few targets need -> its label.
SITES = {
    "PIL": "//toolchains/python:tensorflow",
    "flatbuffers": "//toolchains/python:tensorflow",
    "ray": "//toolchains/python:ray",
    "tensorflow": "//toolchains/python:tensorflow",
    "tensorflow_probability": "//toolchains/python:tensorflow",
    "tf_agents": "//toolchains/python:tensorflow",
}


@dataclasses.dataclass(frozen=True, order=True)
class Edge:
    """A dependency.

    Attributes:
      source: the file that states it, relative to the workspace: "mlgo/trace/trace.py".
      line: its line there.
      target: the module's file or the label it depends on: "mlgo/run/files.py", "//mlgo/run:files".
      test_only: stated by a rule that only tests may use. False for Python files.
    """

    source: str
    line: int
    target: str
    test_only: bool = False

    def __str__(self) -> str:
        return f"{self.source}:{self.line} -> {self.target}"

    @property
    def target_folder(self) -> str:
        """The folder of the module or the package of the label."""
        return self.target[2:].partition(":")[0] if self.target.startswith("//") else posixpath.dirname(self.target)


@dataclasses.dataclass(frozen=True)
class PythonTarget:
    """A py_library, py_binary or py_test that a BUILD file writes out, or that python_package or python_tests makes.

    Attributes:
      label: "//mlgo/run:files".
      rule: "py_library".
      sources: its Python files, relative to the workspace.
      deps: labels of this workspace, in full.
    """

    label: str
    rule: str
    sources: tuple[str, ...]
    deps: tuple[str, ...]


@dataclasses.dataclass(frozen=True)
class Modules:
    """Python modules of the workspace.

    Attributes:
      files: dotted name -> file.
      import_paths: folders whose modules are imported by their bare names (`imports = ["."]`).
    """

    files: dict[str, str]
    import_paths: tuple[str, ...]

    @classmethod
    def of_workspace(cls, root: pathlib.Path, files: Iterable[str]) -> "Modules":
        files = list(files)
        builds = [file for file in files if posixpath.basename(file) == "BUILD.bazel"]
        return cls(
            {file[:-3].removesuffix("/__init__").replace("/", "."): file for file in files if file.endswith(".py")},
            tuple(posixpath.dirname(file) for file in builds if 'imports = ["."]' in (root / file).read_text("utf-8")),
        )

    def find(self, name: str, importer: str) -> str | None:
        """The file of the module that `importer`, a file, knows as `name`; None when it is not ours, or `importer`."""
        folders = [posixpath.dirname(importer), *self.import_paths] if "." not in name else []
        names = [name, *(f"{folder}/{name}".replace("/", ".") for folder in folders if folder in self.import_paths)]
        found = next((self.files[name] for name in names if name in self.files), None)
        return found if found != importer else None


def python_edges(root: pathlib.Path, file: str, modules: Modules) -> Iterator[Edge]:
    """Imports of `file` anywhere in it, and strings that name a module, as `importlib.import_module` takes them.

    An import of a package of SITES counts where it runs at once: in a function, its callers see to the site.
    """
    for node in ast.walk(ast.parse((root / file).read_bytes(), file)):
        if isinstance(node, ast.ImportFrom) and node.module and not node.level:
            names = [node.module, *(f"{node.module}.{alias.name}" for alias in node.names)]
        elif isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        elif isinstance(node, ast.Constant) and isinstance(node.value, str) and "." in node.value:
            names = [node.value]
        else:
            continue
        yield from (Edge(file, node.lineno, found) for name in names if (found := modules.find(name, file)))
        if isinstance(node, ast.Import | ast.ImportFrom) and node.col_offset == 0:
            site = SITES.get(names[0].partition(".")[0])
            yield from [Edge(file, node.lineno, site)] if site else []


def full_label(label: str, package: str) -> str | None:
    """A label of this workspace with package and name; None for a label of another repository or no label."""
    if label.startswith(":"):
        return f"//{package}{label}"
    if not label.startswith("//"):
        return None
    return label if ":" in label else f"{label}:{posixpath.basename(label)}"


class _String(ast.Constant):
    """A constant whose value is text."""

    value: str


def _is_string(node: ast.AST | None) -> TypeGuard[_String]:
    return isinstance(node, ast.Constant) and isinstance(node.value, str)


def _strings(node: ast.AST | None) -> Iterator[_String]:
    return filter(_is_string, ast.walk(node) if node else ())


def _function(call: ast.Call) -> str:
    return call.func.id if isinstance(call.func, ast.Name) else getattr(call.func, "attr", "")


def _arguments(call: ast.Call) -> dict[str, ast.expr]:
    return {keyword.arg: keyword.value for keyword in call.keywords if keyword.arg}


def _is_true(node: ast.expr | None) -> bool:
    return isinstance(node, ast.Constant) and node.value is True


def starlark_edges(root: pathlib.Path, file: str) -> Iterator[Edge]:
    """Labels in a BUILD or .bzl file, but for those that grant visibility."""
    package, tree = posixpath.dirname(file), ast.parse((root / file).read_bytes(), file)
    skipped: set[int] = set()
    test_only: set[int] = set()
    calls = [node for node in ast.walk(tree) if isinstance(node, ast.Call)]
    default = any(_function(call) == "package" and _is_true(_arguments(call).get("default_testonly")) for call in calls)
    for call in calls:
        arguments = _arguments(call)
        for name in NOT_DEPENDENCIES:
            skipped.update(map(id, _strings(arguments[name])) if name in arguments else ())
        if _function(call) == "visibility":  # Of a .bzl file: who may load it.
            skipped.update(map(id, _strings(call)))
        if default or "test" in _function(call) or _is_true(arguments.get("testonly")):
            test_only.update(map(id, _strings(call)))
        for name in TEST_ARGUMENTS:
            test_only.update(map(id, _strings(arguments.get(name))) if _function(call) in PACKAGE_MACROS else ())
    for node in _strings(tree):
        label = full_label(node.value, package) if id(node) not in skipped else None
        if label and node.value.startswith("//"):
            yield Edge(file, node.lineno, label, id(node) in test_only)


def _listed(node: ast.expr | None, constants: dict[str, ast.expr], folder: pathlib.Path) -> list[str]:
    """Strings of a list that may be a named constant, a glob, a sum or a select(), of which all branches count.

    [PREFIX + name for name in subpackages(...)] is PREFIX with the name of each folder in `folder` that is a package.
    """
    if isinstance(node, ast.Name):
        return _listed(constants.get(node.id), constants, folder)
    if isinstance(node, ast.BinOp):
        return _listed(node.left, constants, folder) + _listed(node.right, constants, folder)
    if isinstance(node, ast.ListComp) and "subpackages" in ast.dump(node.generators[0].iter):
        names = sorted(path.parent.name for path in folder.glob("*/BUILD.bazel"))
        return [prefix.value + name for prefix in _strings(node.elt) for name in names]
    if isinstance(node, ast.Call) and _function(node) == "glob":
        excluded = {string.value for string in _strings(_arguments(node).get("exclude"))}
        patterns = {string.value for argument in node.args for string in _strings(argument)}
        names = sorted(path.name for pattern in patterns for path in folder.glob(pattern))
        return [name for name in names if not any(fnmatch.fnmatch(name, pattern) for pattern in excluded)]
    return [string.value for string in _strings(node)]


def is_starlark(file: str) -> bool:
    """Whether the labels in `file` are of this workspace: those in NAME.BUILD.bazel are of a fetched repository."""
    return posixpath.basename(file) == "BUILD.bazel" or file.endswith(".bzl")


def python_targets(root: pathlib.Path, file: str) -> Iterator[PythonTarget]:
    """Python targets of a BUILD file, but for those that other macros or a comprehension make."""
    package, tree = posixpath.dirname(file), ast.parse((root / file).read_bytes(), file)
    assigned = ((node.targets[0], node.value) for node in tree.body if isinstance(node, ast.Assign))
    constants = {name.id: value for name, value in assigned if isinstance(name, ast.Name)}

    def listed(node: ast.expr | None) -> list[str]:
        return _listed(node, constants, (root / file).parent)

    def target(rule: str, name: str, sources: list[str], deps: list[str]) -> PythonTarget:
        return PythonTarget(
            f"//{package}:{name}",
            rule,
            tuple(
                source[2:].replace(":", "/") if source.startswith("//") else posixpath.join(package, source)
                for source in sources
                if source.endswith(".py")
            ),
            tuple(label for dep in deps if (label := full_label(dep, package))),
        )

    for call in (node for node in ast.walk(tree) if isinstance(node, ast.Call)):
        arguments = _arguments(call)
        named = arguments.get("name")
        name = named.value if _is_string(named) else None
        deps = listed(arguments.get("deps"))
        if _function(call) in PYTHON_RULES and name:
            yield target(_function(call), name, listed(arguments.get("srcs")), deps)
        if _function(call) not in PACKAGE_MACROS:
            continue
        files = sorted({path.name for path in (root / package).glob("*.py")} - set(listed(arguments.get("exclude"))))
        tests = [source for source in files if source.endswith("_test.py")]
        if name:
            yield target("py_library", name, [source for source in files if source not in tests], deps)
            deps = [f":{name}", *listed(arguments.get("test_deps"))]
        own = _own_deps(arguments.get("tests"))
        for test in (source.removesuffix(".py") for source in tests):
            yield target("py_test", test, [f"{test}.py"], deps + listed(own.get(test)))


def _own_deps(tests: ast.expr | None) -> dict[str, ast.expr | None]:
    """The argument `tests` of a macro: name -> expression of the test's `deps`."""
    if not isinstance(tests, ast.Dict):
        return {}
    return {
        key.value: _arguments(value).get("deps")
        for key, value in zip(tests.keys, tests.values, strict=True)
        if _is_string(key) and isinstance(value, ast.Call)
    }


def workspace_edges(root: pathlib.Path, files: Iterable[str]) -> list[Edge]:
    """All dependencies between files of the workspace, sorted."""
    files = list(files)
    modules = Modules.of_workspace(root, files)
    found: set[Edge] = set()
    for file in files:
        if file.endswith(".py"):
            found.update(python_edges(root, file, modules))
        elif is_starlark(file):
            found.update(starlark_edges(root, file))
    return sorted(found)
