"""Dependencies of a made-up workspace."""

import pathlib
import tempfile
import unittest

from tests.architecture import edges

FILES = {
    "mlgo/run/files.py": "",
    "mlgo/run/BUILD.bazel": 'py_library(name = "files", srcs = ["files.py"], visibility = ["//mlgo:__subpackages__"])',
    "mlgo/trace/trace.py": """
from typing import TYPE_CHECKING
import os
if TYPE_CHECKING:
    from mlgo.run import files
def work():
    import mlgo.run.files, tensorflow
    return importlib.import_module("mlgo.run.files")
""",
    "mlgo/trace/BUILD.bazel": """
load("//mlgo/run:defs.bzl", "x")
_SRCS = glob(["*.py"], exclude = ["*_test.py"])
py_library(name = "trace", srcs = _SRCS, deps = ["//mlgo/run:files", "@pip//:site"] + select({":a": [":b"]}))
py_test(name = "trace_test", srcs = ["trace_test.py"], data = ["//mlgo/trace/testing"])
py_library(name = "support", testonly = True, data = ["//release:clang"])
""",
    "mlgo/trace/private.bzl": 'visibility(["//release/..."])',
    "mlgo/trace/trace_test.py": "import tensorflow as tf",
    "third_party/x/BUILD.bazel": 'py_library(name = "x", srcs = ["one.py", "two.py"], imports = ["."])',
    "third_party/x/one.py": "import two",
    "third_party/x/two.py": "",
    "third_party/x/y.BUILD.bazel": 'alias(name = "a", actual = "//mlgo:b")',
}


class EdgesTest(unittest.TestCase):
    def setUp(self):
        self.root = pathlib.Path(self.enterContext(tempfile.TemporaryDirectory()))
        for name, text in FILES.items():
            (self.root / name).parent.mkdir(parents=True, exist_ok=True)
            (self.root / name).write_text(text, encoding="utf-8")

    def test_every_dependency(self):
        found = [(str(edge), edge.test_only) for edge in edges.workspace_edges(self.root, FILES)]
        self.assertEqual(
            found,
            [
                ("mlgo/trace/BUILD.bazel:2 -> //mlgo/run:defs.bzl", False),
                ("mlgo/trace/BUILD.bazel:4 -> //mlgo/run:files", False),
                ("mlgo/trace/BUILD.bazel:5 -> //mlgo/trace/testing:testing", True),
                ("mlgo/trace/BUILD.bazel:6 -> //release:clang", True),
                ("mlgo/trace/trace.py:5 -> mlgo/run/files.py", False),
                ("mlgo/trace/trace.py:7 -> mlgo/run/files.py", False),
                ("mlgo/trace/trace.py:8 -> mlgo/run/files.py", False),
                ("mlgo/trace/trace_test.py:1 -> //toolchains/python:tensorflow", False),
                ("third_party/x/one.py:1 -> third_party/x/two.py", False),
            ],
        )

    def test_python_targets(self):
        targets = list(edges.python_targets(self.root, "mlgo/trace/BUILD.bazel"))
        labels = [target.label for target in targets]
        self.assertEqual(labels, ["//mlgo/trace:trace", "//mlgo/trace:trace_test", "//mlgo/trace:support"])
        self.assertEqual(targets[0].sources, ("mlgo/trace/trace.py",))
        self.assertEqual(targets[0].deps, ("//mlgo/run:files", "//mlgo/trace:a", "//mlgo/trace:b"))

    def test_python_package(self):
        text = """
_PROGRAMS = ["main.py"]
python_package(
    name = "p", exclude = _PROGRAMS, deps = ["//a"], test_deps = ["//b"], tests = {"y_test": dict(deps = ["//c"])},
)
"""
        (self.root / "p").mkdir()
        for name, content in (
            ("BUILD.bazel", text),
            ("x.py", ""),
            ("main.py", ""),
            ("x_test.py", ""),
            ("y_test.py", ""),
        ):
            (self.root / "p" / name).write_text(content, encoding="utf-8")
        self.assertEqual(
            [(target.label, target.rule, target.sources, target.deps) for target in self.targets_of("p")],
            [
                ("//p:p", "py_library", ("p/x.py",), ("//a:a",)),
                ("//p:x_test", "py_test", ("p/x_test.py",), ("//p:p", "//b:b")),
                ("//p:y_test", "py_test", ("p/y_test.py",), ("//p:p", "//b:b", "//c:c")),
            ],
        )
        found = edges.workspace_edges(self.root, ["p/BUILD.bazel"])
        self.assertEqual(
            [(edge.target, edge.test_only) for edge in found], [("//a:a", False), ("//b:b", True), ("//c:c", True)]
        )

    def targets_of(self, package):
        return list(edges.python_targets(self.root, f"{package}/BUILD.bazel"))

    def test_deps_on_every_package_below(self):
        deps = '["//mlgo/trace:trace"] + ["//p/" + n for n in subpackages(include = ["*"])]'
        text = f'py_library(name = "all", deps = {deps})'
        for name, content in (("p", text), ("p/b", ""), ("p/a", "")):
            (self.root / name).mkdir()
            (self.root / name / "BUILD.bazel").write_text(content, encoding="utf-8")
        (target,) = edges.python_targets(self.root, "p/BUILD.bazel")
        self.assertEqual(target.deps, ("//mlgo/trace:trace", "//p/a:a", "//p/b:b"))


if __name__ == "__main__":
    unittest.main()
