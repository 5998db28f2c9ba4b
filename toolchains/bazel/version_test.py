import unittest

from toolchains.bazel import version


class VersionTest(unittest.TestCase):
    def test_table(self):
        for output, parsed, accepted in (
            ("bazel 7.7.1\n", (7, 7, 1), True),
            ("bazel 7.7.0\n", (7, 7, 0), True),
            ("bazel 7.6.9\n", (7, 6, 9), False),
            ("bazel 8.4.2\n", (8, 4, 2), False),
            ("bazel 9.0.0\n", (9, 0, 0), False),
            ("bazel 9.0.0-pre.20250317.1\n", (9, 0, 0), False),
            ("bazel 10.1\n", (10, 1), False),
            ("Bazelisk version: v1.25.0\nbazel 7.7.0\n", (7, 7, 0), True),
            ("bazel no_version\n", None, False),
            ("", None, False),
        ):
            with self.subTest(output=output):
                self.assertEqual(version.parse(output), parsed)
                self.assertEqual(version.accepted(version.parse(output)), accepted)

    def test_describe(self):
        self.assertEqual(version.describe((6, 4, 0)), "Bazel 6.4.0")
        self.assertEqual(version.describe(None), "a Bazel that tells no version")


if __name__ == "__main__":
    unittest.main()
