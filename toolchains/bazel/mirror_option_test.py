import os
import pathlib
import tempfile
import unittest

from toolchains.bazel import mirror_option
from toolchains.bazel.errors import LauncherError


class SplitTest(unittest.TestCase):
    def test_before_and_after_the_command_and_more_than_once(self):
        self.assertEqual(
            mirror_option.split(["--debian_mirror=http://a/debian", "build", "--debian_mirror", "https://b", "//x"]),
            (["http://a/debian", "https://b"], ["build", "//x"]),
        )

    def test_words_of_a_program_are_its_own(self):
        words = ["run", "//x", "--", "--debian_mirror=1"]
        self.assertEqual(mirror_option.split(words), ([], words))

    def test_a_directory_may_have_any_name(self):
        with tempfile.TemporaryDirectory() as scratch:
            folder = pathlib.Path(scratch).resolve() / "a b,ä"
            folder.mkdir()
            (mirror,), _ = mirror_option.split([f"--debian_mirror={folder}"])
        self.assertEqual(mirror, f"{folder.parent.as_uri()}/a%20b%2C%C3%A4")

    def test_what_is_no_mirror(self):
        for words in (
            ["--debian_mirror=ftp://x"],
            ["--debian_mirror=/no/such"],
            ["--debian_mirror"],
            ["--debian_mirror="],
        ):
            with (
                self.subTest(words),
                self.assertRaisesRegex(
                    LauncherError,
                    "^--debian_mirror=.*: is no http:// or https:// address and no directory. Give the address",
                ),
            ):
                mirror_option.split(words)


class RcTest(unittest.TestCase):
    def test_as_bazel_reads_it(self):
        text = (
            "# common --repo_env=MLGO_DEBIAN_MIRRORS=http://comment\n"
            "build --jobs=2\n"
            'common --repo_env="MLGO_DEBIAN_MIRRORS=http://first"\n'
            "common --config=x \\\n  --repo_env MLGO_DEBIAN_MIRRORS=/srv/keep,http://last\n"
            "build 'unfinished\n"
        )
        self.assertEqual(mirror_option.of_rc(text), "/srv/keep,http://last")
        self.assertEqual(mirror_option.of_rc("common --repo_env=OTHER=x\n"), "")

    def test_option_then_variable_then_file(self):
        rc = "common --repo_env=MLGO_DEBIAN_MIRRORS=http://rc\n"
        self.assertEqual(
            mirror_option.with_mirrors({"MLGO_DEBIAN_MIRRORS": "http://e", "A": "b"}, ["http://o1", "http://o2"], rc),
            {"MLGO_DEBIAN_MIRRORS": "http://e,http://rc", "MLGO_DEBIAN_MIRROR_OPTION": "http://o1,http://o2", "A": "b"},
        )
        self.assertEqual(mirror_option.with_mirrors(os.environ, [], ""), dict(os.environ))


if __name__ == "__main__":
    unittest.main()
