"""The workspace follows the architecture: the order of mlgo/README.md, the zones of `rules.FORBIDDEN`, no cycle."""

import pathlib
import posixpath
import unittest

from tests.architecture import edges, rules
from tests.architecture.edges import Edge, PythonTarget
from tests.clones import clone

# "SOURCE -> TARGET" of dependencies that break a rule, with the reason. They are to become fewer.
ALLOWED = {"third_party/llvm/BUILD.bazel -> //development:private_config": "the link rules move to llvm/"}


class ArchitectureTest(unittest.TestCase):
    root: pathlib.Path
    files: list[str]
    edges: list[Edge]
    targets: list[PythonTarget]
    order: list[str]

    @classmethod
    def setUpClass(cls):
        cls.root = clone.root()
        cls.files = [str(path.relative_to(cls.root)) for path in clone.files(cls.root)]
        cls.edges = edges.workspace_edges(cls.root, cls.files)
        builds = [file for file in cls.files if posixpath.basename(file) == "BUILD.bazel"]
        cls.targets = [target for file in builds for target in edges.python_targets(cls.root, file)]
        cls.order = rules.layers((cls.root / "mlgo/README.md").read_text(encoding="utf-8"))

    def check(self, found, remedy):
        """Fails with the dependencies of `found` that ALLOWED does not name."""
        rest = [edge for edge in found if f"{edge.source} -> {edge.target}" not in ALLOWED]
        self.assertEqual(rest, [], "\n".join([*map(str, rest), remedy]))

    def test_the_workspace_was_read(self):
        self.assertGreater(len(self.edges), 1000)
        self.assertGreater(len(self.targets), 200)

    def test_order_of_mlgo(self):
        self.check(rules.against_order(self.edges, self.order), "Move code down, or pass it as an argument.")

    def test_order_names_every_folder(self):
        folders = {file.split("/")[1] for file in self.files if file.startswith("mlgo/") and file.count("/") > 1}
        self.assertEqual(set(self.order), folders | {"*.py"}, "mlgo/README.md and the folders below mlgo/ differ")

    def test_zones(self):
        self.check(rules.across_zones(self.edges), "rules.FORBIDDEN says which folders must not know which.")

    def test_production_code_needs_no_test_support(self):
        self.check(
            rules.production_on_testing(self.edges), "Test support stays in testing/; move what ships out of it."
        )

    def test_no_import_cycle(self):
        self.assertEqual(rules.cycles(self.edges, ""), [])

    def test_deps_equal_imports(self):
        complaints = rules.missing_deps(self.targets, self.edges) + rules.unused_deps(self.targets, self.edges)
        self.assertEqual(complaints, [], "\n".join(complaints))

    def test_every_exception_is_needed(self):
        found = rules.against_order(self.edges, self.order) + rules.across_zones(self.edges)
        found += rules.production_on_testing(self.edges)
        self.assertEqual(set(ALLOWED) - {f"{edge.source} -> {edge.target}" for edge in found}, set())


if __name__ == "__main__":
    unittest.main()
