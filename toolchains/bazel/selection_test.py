import os
import pathlib
import tempfile
import unittest

from toolchains.bazel import selection, version
from toolchains.bazel.errors import LauncherError


class SelectionTest(unittest.TestCase):
    def setUp(self):
        self.scratch = pathlib.Path(self.enterContext(tempfile.TemporaryDirectory())).resolve()
        self.said = []

    def program(self, path, output):
        path = self.scratch / path
        path.parent.mkdir(exist_ok=True)
        path.write_text(f"#!/bin/sh\n{output}\n")
        path.chmod(0o755)
        return str(path)

    def choose(self, folders=(), own="", **environ):
        environ["PATH"] = os.pathsep.join(str(self.scratch / folder) for folder in folders)

        def probe(program):
            return selection.ask(program, str(self.scratch), environ)

        return selection.choose(environ, own, probe, self.said.append)

    def test_nothing_on_path(self):
        self.assertIsNone(self.choose(["a"]))
        self.assertEqual(self.said, [])

    def test_first_that_fits_is_taken_and_refused_ones_are_not_mentioned(self):
        self.program("a/bazel", "echo bazel 6.4.0")
        good = self.program("b/bazel", "echo bazel 7.8.0")
        self.assertEqual(self.choose(["a", "b"]), good)
        self.assertEqual(self.said, [])

    def test_bazelisk_serves_when_bazel_does_not(self):
        self.program("a/bazel", "echo bazel 9.0.0")
        good = self.program("a/bazelisk", "echo bazel 7.7.1")
        self.assertEqual(self.choose(["a"]), good)

    def test_refused_ones_are_named_with_their_version_and_the_rule(self):
        old = self.program("a/bazel", "echo bazel 6.4.0")
        broken = self.program("a/bazelisk", "exit 1")
        self.assertIsNone(self.choose(["a"]))
        self.assertEqual(
            self.said,
            [
                f"{old} is Bazel 6.4.0; {broken} is a Bazel that tells no version: passed over, since mlgo "
                "needs Bazel >= 7.7, < 8; using Debian's Bazel instead"
            ],
        )

    def test_named_bazel_wins(self):
        self.program("a/bazel", "echo bazel 7.7.1")
        named = self.program("b/my bazel", "echo bazel 7.7.0")
        self.assertEqual(self.choose(["a"], BAZEL=named), named)

    def test_named_bazel_may_be_a_name_on_path(self):
        named = self.program("a/bazel-7", "echo bazel 7.7.0")
        self.assertEqual(self.choose(["a"], BAZEL="bazel-7"), named)

    def test_named_bazel_that_does_not_fit_is_an_error_and_not_passed_over(self):
        named = self.program("a/bazel", "echo bazel 6.4.0")
        with self.assertRaisesRegex(
            LauncherError, r"^BAZEL=.*/a/bazel: is Bazel 6\.4\.0, mlgo needs >= 7\.7, < 8\. Set BAZEL to"
        ):
            self.choose(["a"], BAZEL=named)

    def test_named_bazel_that_is_not_there(self):
        with self.assertRaisesRegex(LauncherError, r"^BAZEL=/no/such: no such program\. Set BAZEL to .* or unset it"):
            self.choose(BAZEL="/no/such")

    def test_the_launcher_itself_is_never_chosen(self):
        own = self.program("clone/bazelw", "echo bazel 7.7.1")
        (self.scratch / "a").mkdir()
        os.symlink(own, self.scratch / "a" / "bazel")
        self.assertIsNone(self.choose(["a"], own=own))
        self.assertEqual(self.said, [])

    def test_candidates_learn_that_they_are_only_asked(self):
        program = self.program("a/bazel", f'[ "${selection.PROBE}" = 1 ] && echo bazel 7.7.1')
        self.assertEqual(selection.ask(program, str(self.scratch), {}), (7, 7, 1))

    def test_a_program_that_cannot_be_started_tells_no_version(self):
        path = self.scratch / "bazel"
        path.write_bytes(b"\x7fELF nonsense")
        path.chmod(0o755)
        self.assertFalse(version.accepted(selection.ask(str(path), str(self.scratch), {})))


if __name__ == "__main__":
    unittest.main()
