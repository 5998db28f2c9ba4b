"""Each rule accepts what is allowed and finds each kind of violation."""

import unittest

from tests.architecture import rules
from tests.architecture.edges import Edge, PythonTarget

ORDER = ["run", "corpus", "trace", "*.py"]


def edge(source, target, test_only=False):
    return Edge(source, 1, target, test_only)


class LayersTest(unittest.TestCase):
    def test_table(self):
        self.assertEqual(
            rules.layers("| folder | holds |\n| --- | --- |\n| `run/` | x |\n| `*.py` | y |\n"), ["run", "*.py"]
        )

    def test_no_order(self):
        for text in ("", "| `run/` | x |\n| `corpus/` | x |\n", "| `run/` | x |\n| `run/` | x |\n| `*.py` | x |\n"):
            with self.assertRaisesRegex(ValueError, "mlgo/README.md: rows .*; write one row per folder"):
                rules.layers(text)


class OrderTest(unittest.TestCase):
    def test_downwards(self):
        allowed = [
            edge("mlgo/trace/trace.py", "mlgo/run/files.py"),
            edge("mlgo/trace/archive/zip.py", "mlgo/trace/trace.py"),
            edge("mlgo/train.py", "mlgo/trace/trace.py"),
            edge("mlgo/BUILD.bazel", "//mlgo/trace:trace"),
            edge("tests/x_test.py", "mlgo/train.py"),
        ]
        self.assertEqual(rules.against_order(allowed, ORDER), [])

    def test_upwards(self):
        forbidden = [
            edge("mlgo/run/files.py", "mlgo/corpus/corpus.py"),
            edge("mlgo/corpus/corpus_test.py", "mlgo/train.py"),
            edge("mlgo/corpus/BUILD.bazel", "//mlgo:train"),
            edge("mlgo/corpus/gn/BUILD.bazel", "//mlgo/trace/testing:fake"),
            edge("mlgo/unnamed/x.py", "mlgo/run/files.py"),
            edge("mlgo/train.py", "mlgo/unnamed/x.py"),
        ]
        self.assertEqual(rules.against_order(forbidden, ORDER), forbidden)


class ZonesTest(unittest.TestCase):
    def test_zones(self):
        forbidden = [
            edge("third_party/x/defs.bzl", "//mlgo/corpus:defs.bzl"),
            edge("development/BUILD.bazel", "//release:clang"),
            edge("release/BUILD.bazel", "//development:clang"),
            edge("mlgo/x.py", "models/record.py"),
            edge("mlgo/BUILD.bazel", "//release:clang"),
        ]
        allowed = [edge("mlgo/BUILD.bazel", "//development:clang"), edge("tests/x.py", "mlgo/x.py")]
        self.assertEqual(rules.across_zones(forbidden + allowed), forbidden)


class TestingTest(unittest.TestCase):
    def test_production_on_testing(self):
        forbidden = [
            edge("mlgo/x.py", "mlgo/compiler/testing/fake.py"),
            edge("mlgo/BUILD.bazel", "//mlgo/compiler/testing:fake"),
        ]
        allowed = [
            edge("mlgo/x_test.py", "mlgo/compiler/testing/fake.py"),
            edge("mlgo/trace/testing/y.py", "mlgo/compiler/testing/fake.py"),
            edge("mlgo/BUILD.bazel", "//mlgo/compiler/testing:fake", test_only=True),
            edge("tests/z.py", "mlgo/compiler/testing/fake.py"),
        ]
        self.assertEqual(rules.production_on_testing(forbidden + allowed), forbidden)


class CyclesTest(unittest.TestCase):
    def test_cycles(self):
        edges = [edge(f"mlgo/{a}.py", f"mlgo/{b}.py") for a, b in ("ab", "bc", "ca", "cd", "de", "ed", "fe")]
        self.assertEqual(
            rules.cycles(edges, "mlgo/"), [["mlgo/a.py", "mlgo/b.py", "mlgo/c.py"], ["mlgo/d.py", "mlgo/e.py"]]
        )
        self.assertEqual(rules.cycles(edges, "tests/"), [])


class DepsTest(unittest.TestCase):
    def targets(self, *deps):
        return [
            PythonTarget("//a:a", "py_library", ("a/a.py",), ()),
            PythonTarget("//b:b", "py_library", ("b/b.py",), ("//a:a",)),
            PythonTarget("//c:c", "py_binary", ("c/c.py",), deps),
        ]

    def test_equal(self):
        edges = [edge("b/b.py", "a/a.py"), edge("c/c.py", "b/b.py"), edge("c/c.py", "a/a.py")]
        self.assertEqual(rules.missing_deps(self.targets("//b:b"), edges), [])
        self.assertEqual(rules.unused_deps(self.targets("//b:b"), edges), [])

    def test_missing(self):
        found = rules.missing_deps(self.targets(), [edge("c/c.py", "b/b.py")])
        self.assertEqual(found, ["//c:c: c/c.py:1 -> b/b.py; add //b:b to deps"])

    def test_missing_site(self):
        edges = [edge("a/a.py", "//toolchains/python:tensorflow")]
        self.assertEqual(
            rules.missing_deps(self.targets(), edges),
            ["//a:a: a/a.py:1 -> //toolchains/python:tensorflow; add //toolchains/python:tensorflow to deps"],
        )
        having = [PythonTarget("//a:a", "py_library", ("a/a.py",), ("//toolchains/python:tensorflow",))]
        self.assertEqual(rules.missing_deps(having, edges), [])

    def test_unused(self):
        found = rules.unused_deps(self.targets("//a:a", "//b:b"), [edge("b/b.py", "a/a.py"), edge("c/c.py", "b/b.py")])
        self.assertEqual(found, ["//c:c: deps has //a:a, of which nothing is imported; remove it"])


if __name__ == "__main__":
    unittest.main()
