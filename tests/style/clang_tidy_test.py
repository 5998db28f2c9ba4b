"""clang-tidy finds nothing in our C++: the checks of .clang-tidy, over each source as Bazel compiles it."""

import os
import unittest

from mlgo.run import locate
from tests.clones import clone
from tests.style import own_cxx

#: Below them every source has a report.
_FOLDERS = ("llvm/", "release/", "development/")
#: Compiled in other programs: pieces of generated policies.
_OTHERS = ("release/backends/",)


def _reports() -> dict[str, str]:
    """Path of a source in the workspace -> what clang-tidy said."""
    files = [locate.rlocation(name) for name in os.environ["REPORTS"].split()]
    return {file.name.removesuffix(".txt").replace("+", "/"): file.read_text(encoding="utf-8") for file in files}


class ClangTidyTest(unittest.TestCase):
    maxDiff = None

    def test_no_findings(self):
        for source, said in _reports().items():
            with self.subTest(source):
                self.assertEqual(said, "exit code 0\n", "See tests/style/README.md.")

    def test_every_source_has_a_report(self):
        root = clone.root()
        own = {path.relative_to(root).as_posix() for path in own_cxx.files(root) if path.suffix == ".cpp"}
        # Bazel builds a test that others depend on in a second configuration, under the same name.
        wanted = {
            path
            for path in own
            if path.startswith(_FOLDERS) and not path.startswith(_OTHERS) and not path.endswith("_test.cpp")
        }
        self.assertGreater(len(wanted), 40)
        self.assertEqual(wanted - set(_reports()), set(), "name their targets in tests/style/BUILD.bazel")


if __name__ == "__main__":
    unittest.main()
