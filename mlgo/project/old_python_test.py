"""What bin/mlgo imports is Python 3.9: syntax, annotations that are not evaluated, and the standard library alone."""

import ast
import importlib.util
import pathlib
import sys
import unittest

_OLDEST = (3, 9)
#: Modules of Python 3.9 that newer versions lack are not used; these came later.
_NEWER = {"tomllib"}


def modules_of(name, found):
    """Adds to `found` the module `name` of this workspace, and those that it imports: name -> syntax tree."""
    spec = importlib.util.find_spec(name)
    assert spec is not None and spec.origin is not None, name
    tree = ast.parse(pathlib.Path(spec.origin).read_text("utf-8"), feature_version=_OLDEST)
    found[name] = tree
    for imported in imports_of(tree):
        if imported.startswith("mlgo.") and imported not in found and is_module(imported):
            modules_of(imported, found)


def is_module(name):
    try:
        spec = importlib.util.find_spec(name)
    except ModuleNotFoundError:  # A name in a module.
        return False
    return spec is not None and spec.origin is not None


def imports_of(tree):
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            yield node.module
            yield from (f"{node.module}.{alias.name}" for alias in node.names)


class OldPythonTest(unittest.TestCase):
    modules: dict[str, ast.Module]

    @classmethod
    def setUpClass(cls):
        cls.modules = {}
        modules_of("mlgo.project.command", cls.modules)

    def test_all_were_read(self):
        self.assertIn("mlgo.corpus.options.table", self.modules)
        self.assertGreater(len(self.modules), 20)

    def test_annotations_are_not_evaluated(self):
        for name, tree in self.modules.items():
            future = [node for node in tree.body if isinstance(node, ast.ImportFrom) and node.module == "__future__"]
            self.assertTrue(future, name)

    def test_the_standard_library_alone(self):
        for name, tree in self.modules.items():
            tops = {imported.partition(".")[0] for imported in imports_of(tree)} - {"mlgo"}
            self.assertLessEqual(tops, sys.stdlib_module_names - _NEWER, name)

    def test_no_newer_function(self):
        newer = ("hashlib.file_digest", "StrEnum", "zip(strict", "datetime.UTC", "slots=True", "kw_only=True")
        for name, tree in self.modules.items():
            text = ast.unparse(tree)
            self.assertEqual([word for word in newer if word in text], [], name)
