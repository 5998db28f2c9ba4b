"""Our C++ compiles with the headers of LLVM 23 too. Manual: ./bazelw test //tests/style:other_major_test"""

import unittest

from tests.style import reports


class OtherMajorTest(unittest.TestCase):
    maxDiff = None

    def test_every_source_compiles(self):
        for source, said in reports.read().items():
            with self.subTest(source):
                self.assertEqual(said, reports.GOOD, "See docs/another-llvm.md.")

    def test_every_source_has_a_report(self):
        wanted = reports.wanted()
        self.assertGreater(len(wanted), 40)
        self.assertEqual(wanted - set(reports.read()), set(), "name their targets in tests/style/BUILD.bazel")


if __name__ == "__main__":
    unittest.main()
