"""clang-tidy finds nothing in our C++: the checks of .clang-tidy, over each source as Bazel compiles it."""

import unittest

from tests.style import reports


class ClangTidyTest(unittest.TestCase):
    maxDiff = None

    def test_no_findings(self):
        for source, said in reports.read().items():
            with self.subTest(source):
                self.assertEqual(said, reports.GOOD, "See tests/style/README.md.")

    def test_every_source_has_a_report(self):
        # Bazel builds a test that others depend on in a second configuration, under the same name.
        wanted = reports.wanted()
        self.assertGreater(len(wanted), 40)
        self.assertEqual(wanted - set(reports.read()), set(), "name their targets in tests/style/BUILD.bazel")


if __name__ == "__main__":
    unittest.main()
